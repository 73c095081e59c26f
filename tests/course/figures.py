#!/usr/bin/env python3
"""Draws the figures of the course as tests/course/figures.txt says: figures.py PROGRAM [FOLDER]."""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "learn" / "images"
WIDTH = "640"


def listed():
    """Name, where the log comes from, and the options of osler plot, for each figure."""
    for line in (ROOT / "tests" / "course" / "figures.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, source, options = (part.strip() for part in line.split("|"))
            yield name, source, options


def draw(program, source, options, output):
    """Draws one figure into `output`."""
    with tempfile.TemporaryDirectory() as folder:
        log = ROOT / source
        if source.split()[0] == "lab":
            log = Path(folder) / (output.stem + ".csv")
            with log.open("w") as out:
                lab = ROOT / "docs" / "learn" / "lab.py"
                subprocess.run([sys.executable, "-B", lab, *shlex.split(source)[1:]], stdout=out, check=True)
        subprocess.run([program, "plot", log, *shlex.split(options), "--width", WIDTH, "-o", output], check=True,
                       stdout=subprocess.DEVNULL)


def main():
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else IMAGES
    for name, source, options in listed():
        draw(sys.argv[1], source, options, folder / name)


if __name__ == "__main__":
    main()
