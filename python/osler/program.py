"""The `osler` program that comes with the package, for what it does as a whole."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence

from osler.errors import NotFoundError, OslerError


def program_path() -> str:
    """Where the program is: beside this Python, else on the path. OSLER_PROGRAM names another one."""
    named = os.environ.get("OSLER_PROGRAM")
    if named:
        return named
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        place = os.path.join(folder or "", "osler")
        if os.access(place, os.X_OK):
            return place
    found = shutil.which("osler")
    if found is None:
        raise NotFoundError("the program osler is not installed beside this Python", "not-found", "osler")
    return found


def run_program(words: Sequence[str]) -> str:
    """Runs it and gives what it printed; what it complains of is the exception."""
    done = subprocess.run([program_path(), *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        message = (said[-1] if said else f"osler {words[0]} ended with {done.returncode}").removeprefix("osler: ")
        raise OslerError(message, "invalid-argument" if done.returncode == 2 else "internal", words[0])
    return done.stdout
