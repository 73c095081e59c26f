#!/usr/bin/env python3
"""A script that only prints, watched by two lines: watch_script.py [RATE]."""

import sys

import osler

osler.watch_this()
rate = float(sys.argv[1]) if len(sys.argv) > 1 else 1.05
x = 3.0
for step in range(400):
    print(f"step {step} loss {x * x:.6g} lr {rate}")
    x -= rate * 2 * x
