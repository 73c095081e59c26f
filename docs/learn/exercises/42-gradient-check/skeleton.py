"""Exercise 42: is the gradient I wrote the gradient of the loss I wrote?"""


def gradient_check(loss, weights, gradient, step=1e-5):
    """The largest relative error between `gradient` and the numerical gradient of `loss` at `weights`.

    `loss(weights)` gives a number, `gradient` is a list as long as `weights`. Use central differences, moving one weight at
    a time by `step` up and down. The relative error of one entry is |a - n| / max(1e-8, |a| + |n|). Leave `weights` as they
    were. In double precision a right gradient gives about 1e-7 or less, a wrong one 1e-2 or more.
    """
    raise NotImplementedError
