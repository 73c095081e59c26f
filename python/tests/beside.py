"""What lies beside the package and a test may need: the osler program, Chromium."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def osler_program() -> str:
    """The program that came with the package, the one that OSLER_PROGRAM names, or the one built last in this tree."""
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the sanitizer's runtime would go along into the program")
    told = os.environ.get("OSLER_PROGRAM")
    installed = Path(sysconfig.get_path("scripts")) / "osler"
    if told or installed.is_file():
        return told or str(installed)
    built = [path for path in ROOT.glob("build/*/src/cli/osler") if path.is_file()]
    if not built:
        pytest.skip("the osler program is neither installed nor built; OSLER_PROGRAM may name it")
    return str(max(built, key=lambda path: path.stat().st_mtime))


def chromium() -> str:
    """A Chromium to look at pages with."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("Chromium is not installed: apt install chromium")
