"""Exercise 42: is the gradient I wrote the gradient of the loss I wrote?"""

SMALLEST = 1e-8  # below this both count as zero


def gradient_check(loss, weights, gradient, step=1e-5):
    """The largest relative error between `gradient` and the numerical gradient of `loss` at `weights`."""
    worst = 0.0
    for i, analytic in enumerate(gradient):
        above = [*weights[:i], weights[i] + step, *weights[i + 1:]]
        below = [*weights[:i], weights[i] - step, *weights[i + 1:]]
        numerical = (loss(above) - loss(below)) / (2 * step)
        worst = max(worst, abs(analytic - numerical) / max(SMALLEST, abs(analytic) + abs(numerical)))
    return worst
