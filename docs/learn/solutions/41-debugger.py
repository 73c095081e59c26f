"""Exercise 41: a debugger for a training loop, out of parts you have built already."""

import math
from collections import deque

FEWEST_FOR_A_TREND = 4


def mean(values):
    return sum(values) / len(values)


class Debugger:
    """Called once a step, between the backward pass and the optimizer's step."""

    def __init__(self, max_norm=1.0, every=100, window=50):
        self.max_norm, self.every = max_norm, every
        self.losses = deque(maxlen=window)
        self.steps = self.skipped = self.clipped = 0
        self.worst = self.first_bad = self.now = None

    def step(self, step, loss, gradients, rate):
        """Clips the gradients in place and says whether the optimizer may step."""
        self.steps += 1
        norm = math.sqrt(sum(g * g for gradient in gradients for g in gradient))
        sound = math.isfinite(loss) and math.isfinite(norm)
        cut = sound and norm > self.max_norm
        self.now = (step, loss, norm, cut, rate)
        if not sound:
            self.skipped += 1
            self.first_bad = step if self.first_bad is None else self.first_bad
            return False
        self.losses.append(loss)
        self.worst = norm if self.worst is None else max(self.worst, norm)
        if cut:
            self.clipped += 1
            for gradient in gradients:
                gradient[:] = [g * self.max_norm / norm for g in gradient]
        return True

    def share_clipped(self):
        finite = self.steps - self.skipped
        return self.clipped / finite if finite else 0.0

    def line(self):
        """One line every so many steps, None otherwise."""
        if self.now is None or self.now[0] % self.every != 0:
            return None
        step, loss, norm, cut, rate = self.now
        parts = [f"step {step}", f"loss {loss:.4f}"]
        if len(self.losses) >= FEWEST_FOR_A_TREND:
            losses, half = list(self.losses), len(self.losses) // 2
            parts.append(f"trend {mean(losses[-half:]) - mean(losses[:-half]):+.4f}")
        parts.append(f"norm {norm:.1f}" + (" [clipped]" if cut else ""))
        parts += [f"clipped {100 * self.share_clipped():.0f}%", f"lr {rate}"]
        return "  ".join(parts)

    def summary(self):
        """What the whole training was like."""
        return {"steps": self.steps, "skipped": self.skipped, "clipped": self.share_clipped(), "worst_norm": self.worst,
                "first_bad": self.first_bad}
