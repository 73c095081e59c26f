"""Exercise 14: a learning-rate range test, and a choice that refuses where there is nothing to choose."""

import math

FEWEST, FALLS_TO = 10, 0.95


def range_test(train_step, lowest=1e-6, highest=10.0, steps=100, worse=4.0):
    """Trains with rates that grow from step to step and notes the loss beside each."""
    curve, best = [], math.inf
    for step in range(steps):
        rate = lowest * (highest / lowest) ** (step / max(1, steps - 1))
        loss = train_step(rate)
        if not math.isfinite(loss):
            break
        curve.append((rate, loss))
        best = min(best, loss)
        if loss > worse * best:
            break
    return curve


def smoothed(values, beta):
    mean, out = 0.0, []
    for taken, value in enumerate(values, 1):
        mean = beta * mean + (1 - beta) * value
        out.append(mean / (1 - beta ** taken))
    return out


def suggest(curve, beta=0.8):
    """The rate of the steepest fall, or None where no rate can be named."""
    if len(curve) < FEWEST:
        return None
    rates = [rate for rate, _ in curve]
    losses = smoothed([loss for _, loss in curve], beta)
    if min(losses) > FALLS_TO * losses[0]:
        return None
    slopes = [(after - before) / math.log10(high / low)
              for before, after, low, high in zip(losses, losses[1:], rates, rates[1:])]
    steepest = slopes.index(min(slopes))
    return math.sqrt(rates[steepest] * rates[steepest + 1])
