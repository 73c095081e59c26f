#!/usr/bin/env python3
"""Two logs beside each other, and a figure of the worse one: compare_runs.py [GOOD BAD [FIGURE]]."""

import sys
from pathlib import Path

import osler

logs = Path(__file__).resolve().parents[1] / "logs"
good, bad = sys.argv[1:3] if len(sys.argv) > 2 else (logs / "healthy.csv", logs / "sick.csv")
comparison = osler.compare(good, bad)
print(comparison.standing, "-", comparison.headline)
for fact in comparison.facts:
    print("  ", fact)
if len(sys.argv) > 3:
    osler.plot(bad, sys.argv[3], kind="overview")
