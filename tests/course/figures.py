#!/usr/bin/env python3
"""Draws the figures of the course and of the pages as tests/course/figures.txt says: figures.py PROGRAM [FOLDER]."""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "learn" / "images"
PAGES = ROOT / "docs" / "images"


def listed():
    """Where each figure is kept, where its log comes from, and the options of osler plot."""
    for line in (ROOT / "tests" / "course" / "figures.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, source, options = (part.strip() for part in line.split("|"))
            yield ROOT / "docs" / name, source, options


def draw(program, source, options, output):
    """Draws one figure into `output`. Its title names the log as a reader of the tree would, wherever it is drawn."""
    with tempfile.TemporaryDirectory() as folder:
        place, log = ROOT, source
        if source.split()[0] == "gallery":
            place, log = Path(folder), "osler-gallery/" + source.split()[1] + ".osler"
            done = subprocess.run([Path(program).resolve(), *shlex.split(source)], cwd=place, stdout=subprocess.DEVNULL, check=False)
            if done.returncode not in (0, 1):
                raise RuntimeError(f"osler {source} cannot be run")
        if source.split()[0] == "lab":
            place, log = Path(folder), output.stem + ".csv"
            with (place / log).open("w") as out:
                lab = ROOT / "docs" / "learn" / "lab.py"
                subprocess.run([sys.executable, "-B", lab, *shlex.split(source)[1:]], stdout=out, check=True)
        subprocess.run([Path(program).resolve(), "plot", log, *shlex.split(options), "-o", Path(output).resolve()], cwd=place,
                       check=True, stdout=subprocess.DEVNULL)


def main():
    for kept, source, options in listed():
        draw(sys.argv[1], source, options, Path(sys.argv[2]) / kept.name if len(sys.argv) > 2 else kept)


if __name__ == "__main__":
    main()
