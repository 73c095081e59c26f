"""Exercise 44: a rate that looks after itself, lower after an explosion, higher on a plateau."""


class AutoRate:
    """Tell it every loss; it says at which rate to go on, and from which weights."""

    def __init__(self, rate, highest=1.0, patience=20, least_gain=0.01, worse=3.0):
        raise NotImplementedError

    def tell(self, loss, weights):
        """Takes a loss (above 0) and the weights it was measured with (a list of numbers). Returns the rate of the next
        step and the weights from which to take it.

        *Explosion*: the loss is not finite, or more than `worse` times the best so far. The rate that did it is the new
        ceiling: no later rate may reach it. Go on at half of it, from a copy of the best weights (from those given, where
        there is no best yet).
        *Gain*: the loss is the first finite one, or less than (1 - least_gain) times the best. It is the new best; keep a
        copy of its weights. Same rate, same weights.
        *Plateau*: `patience` losses in a row were neither. Go on at 1.5 times the rate if that lies below the ceiling,
        which is `highest` at first; at the same rate otherwise.
        After each of the three the counting of losses without a gain begins anew.
        """
        raise NotImplementedError
