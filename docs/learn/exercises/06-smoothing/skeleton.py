"""Exercise 6: smooth a curve for the eye without lying about its start."""


def smooth(values, beta):
    """The exponential moving average of `values`, corrected for its start at zero.

    The running mean is m = beta * m + (1 - beta) * value, from m = 0. After t values it holds a share of only
    1 - beta ** t of what it should hold: divide by that. A value that is not finite leaves the mean as it is, and so
    does it stay in the list that is given back: the reader must see the gap. An empty list gives an empty list.
    """
    raise NotImplementedError
