#!/usr/bin/env python3
"""Gradient descent on a parabola, recorded and stopped when it is lost: plain_loop.py [RATE]."""

import sys

import osler

rate = float(sys.argv[1]) if len(sys.argv) > 1 else 1.05
run = osler.start(config={"lr": rate})
x = 3.0
for step in range(400):
    loss = x * x
    x -= rate * 2 * x
    osler.log({"train/loss": loss, "lr": rate, "grad_norm": abs(2 * x)}, step=step)
    if step % 50 == 49 and run.report().sick:
        print(f"stopped after step {step}")
        break
print(osler.finish())
