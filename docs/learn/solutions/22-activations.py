"""Exercise 22: a monitor of the activations of one layer."""

import math

NEAR_AN_END, MOST_DEAD, MOST_SATURATED, LEAST_SPREAD, LARGEST = 0.01, 0.5, 0.1, 1e-6, 1000.0


class ActivationMonitor:
    """Watches one layer. Tell it every batch; ask it how the layer is."""

    def __init__(self, units, low=None, high=None):
        self.awake = [False] * units
        self.low, self.high = low, high
        self.count, self.mean, self.square, self.saturated, self.largest = 0, 0.0, 0.0, 0, 0.0

    def add(self, batch):
        """A batch: a list of samples, each a list of numbers."""
        for sample in batch:
            for unit, value in enumerate(sample):
                self.awake[unit] = self.awake[unit] or value != 0
                self.take(value)

    def take(self, value):
        self.count += 1
        before = value - self.mean
        self.mean += before / self.count
        self.square += before * (value - self.mean)  # Welford: no difference of large sums
        self.largest = max(self.largest, abs(value))
        if self.low is not None:
            margin = NEAR_AN_END * (self.high - self.low)
            self.saturated += value < self.low + margin or value > self.high - margin

    def dead_share(self):
        """The share of units that were exactly zero for every sample of every batch."""
        return self.awake.count(False) / len(self.awake) if self.count else 0.0

    def saturated_share(self):
        """The share of all values near an end."""
        return self.saturated / self.count if self.count else 0.0

    def problems(self):
        """Words for what is wrong."""
        if self.count == 0:
            return []
        spread = math.sqrt(self.square / self.count)
        found = [("dead", self.dead_share() > MOST_DEAD), ("saturated", self.saturated_share() > MOST_SATURATED),
                 ("constant", spread < LEAST_SPREAD), ("exploding", self.largest > LARGEST)]
        return [word for word, holds in found if holds]
