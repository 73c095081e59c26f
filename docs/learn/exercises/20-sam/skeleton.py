"""Exercise 20: one step of sharpness-aware minimisation."""


def sam_step(weights, gradient, rate, radius):
    """The weights after one step of SAM with plain gradient descent.

    `gradient(weights)` gives the gradient of the loss as a list. Climb first: move the weights by `radius` along the
    gradient's direction (its unit vector). Take the gradient up there. Then go down with it from where you *began*.
    A gradient of zero has no direction: nothing moves. `weights` itself must not be changed.
    """
    raise NotImplementedError
