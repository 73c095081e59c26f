"""Exercise 6: smooth a curve for the eye without lying about its start."""

import math


def smooth(values, beta):
    """The exponential moving average of `values`, corrected for its start at zero."""
    mean, taken, out = 0.0, 0, []
    for value in values:
        if not math.isfinite(value):
            out.append(value)
            continue
        taken += 1
        mean = beta * mean + (1 - beta) * value
        out.append(mean / (1 - beta ** taken))
    return out
