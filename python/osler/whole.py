"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from typing import Union

from osler.errors import NotFoundError


def write_whole(path: Union[str, os.PathLike[str]], data: bytes) -> None:
    """Writes a file; what was there stays until the new is complete. A pipe or a device takes the bytes as they are."""
    place = os.path.realpath(path)
    if os.path.exists(place) and not os.path.isfile(place):
        with open(place, "wb") as file:
            file.write(data)
        return
    folder = os.path.dirname(place)
    if not os.path.isdir(folder):
        raise NotFoundError(f"{os.fspath(path)}: there is no folder {folder}", "not-found")
    draft = os.path.join(folder, f".osler-draft-{secrets.token_hex(6)}")
    try:
        with open(draft, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(place):
            os.chmod(draft, os.stat(place).st_mode & 0o7777)
        os.replace(draft, place)
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
