"""Exercise 14: a learning-rate range test, and a choice that refuses where there is nothing to choose."""


def range_test(train_step, lowest=1e-6, highest=10.0, steps=100, worse=4.0):
    """Calls `train_step(rate)`, which trains one step and returns the loss before it, with rates that grow by the same
    factor from `lowest` to `highest`. Ends early when the loss is not finite or more than `worse` times the best so far.
    Returns the list of (rate, loss), without the loss that ended it if that is not finite.
    """
    raise NotImplementedError


def suggest(curve, beta=0.8):
    """The rate at which the smoothed loss falls most steeply per decade, or None where no rate can be named.

    Smooth the losses as in exercise 6. Take the slope between neighbours: the change of the loss over the change of
    log10(rate). The suggestion is the geometric mean of the two rates with the most negative slope. Give None for fewer
    than ten points, and where the smoothed loss never falls below 95 % of its first value: a curve that does not fall
    has no steepest fall.
    """
    raise NotImplementedError
