"""Exercise 23: are these first weights of a sensible size?"""


def check_initialisation(rows, activation="relu"):
    """Words for what is wrong with a layer's weights before the first step; an empty list when they are sound.

    `rows` holds one list of weights for each unit, without the bias: its length is the fan-in. The expected standard
    deviation is sqrt(2 / fan_in) for "relu" (He) and sqrt(1 / fan_in) for anything else. Look for, in this order:
    "not finite" (then look no further), "zero" (all weights are 0; look no further), "equal" (all units have the same
    weights; there are two units at least), "small" or "large" (the root mean square is below a tenth or above ten times
    what is expected), "biased" (the mean is more than half the expected deviation away from 0).
    """
    raise NotImplementedError
