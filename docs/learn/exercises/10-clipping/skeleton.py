"""Exercise 10: clip gradients by their global norm."""


def clip(gradients, max_norm):
    """Scales all gradients, in place, so that their norm together is at most `max_norm`.

    `gradients` is a list of lists of numbers, one list for each parameter; an entry may be None (a parameter that got no
    gradient). Returns the norm *before* clipping: that is what belongs in the log. The direction must stay. A norm that
    is not finite leaves the gradients as they are: scaling cannot mend them, and the caller must see it.
    """
    raise NotImplementedError
