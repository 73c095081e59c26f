"""Exercise 22: a monitor of the activations of one layer."""


class ActivationMonitor:
    """Watches one layer. Tell it every batch; ask it how the layer is."""

    def __init__(self, units, low=None, high=None):
        """`units`: how many the layer has. `low` and `high`: the ends of a saturating activation (-1 and 1 for tanh, 0 and
        1 for sigmoid); None for one without ends, such as ReLU."""
        raise NotImplementedError

    def add(self, batch):
        """A batch: a list of samples, each a list of `units` numbers."""
        raise NotImplementedError

    def dead_share(self):
        """The share of units that were exactly zero for every sample of every batch; 0.0 before the first."""
        raise NotImplementedError

    def saturated_share(self):
        """The share of all values within 1 % of the range from an end; 0.0 without ends or values."""
        raise NotImplementedError

    def problems(self):
        """Words for what is wrong, in this order: "dead" (more than half of the units), "saturated" (more than a tenth of
        the values), "constant" (the values' standard deviation is below 1e-6), "exploding" (one is beyond 1000)."""
        raise NotImplementedError
