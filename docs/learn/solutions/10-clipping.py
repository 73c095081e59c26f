"""Exercise 10: clip gradients by their global norm."""

import math


def clip(gradients, max_norm):
    """Scales all gradients, in place, so that their norm together is at most `max_norm`; returns the norm before."""
    norm = math.sqrt(sum(g * g for gradient in gradients if gradient is not None for g in gradient))
    if math.isfinite(norm) and norm > max_norm:
        for gradient in gradients:
            if gradient is not None:
                gradient[:] = [g * max_norm / norm for g in gradient]
    return norm
