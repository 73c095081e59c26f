"""Exercise 20: one step of sharpness-aware minimisation."""

import math


def sam_step(weights, gradient, rate, radius):
    """The weights after one step of SAM with plain gradient descent."""
    here = gradient(weights)
    length = math.sqrt(sum(g * g for g in here))
    if length == 0:
        return list(weights)
    above = [w + radius * g / length for w, g in zip(weights, here)]
    return [w - rate * g for w, g in zip(weights, gradient(above))]
