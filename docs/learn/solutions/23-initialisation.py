"""Exercise 23: are these first weights of a sensible size?"""

import math

FACTOR, MOST_BIAS = 10, 0.5


def check_initialisation(rows, activation="relu"):
    """Words for what is wrong with a layer's weights before the first step."""
    weights = [weight for row in rows for weight in row]
    if not all(math.isfinite(weight) for weight in weights):
        return ["not finite"]
    if not any(weights):
        return ["zero"]
    expected = math.sqrt((2 if activation == "relu" else 1) / len(rows[0]))
    size = math.sqrt(sum(weight * weight for weight in weights) / len(weights))
    mean = sum(weights) / len(weights)
    found = [("equal", len(rows) > 1 and all(row == rows[0] for row in rows)), ("small", size < expected / FACTOR),
             ("large", size > expected * FACTOR), ("biased", abs(mean) > MOST_BIAS * expected)]
    return [word for word, holds in found if holds]
