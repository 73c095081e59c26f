"""Exercise 41: a debugger for a training loop, out of parts you have built already."""


class Debugger:
    """Called once a step, between the backward pass and the optimizer's step."""

    def __init__(self, max_norm=1.0, every=100, window=50):
        raise NotImplementedError

    def step(self, step, loss, gradients, rate):
        """Clips `gradients` in place (exercise 10) and says whether the optimizer may step.

        False when the loss or the norm is not finite: such a step must be left out, and its gradients are not touched.
        """
        raise NotImplementedError

    def line(self):
        """One line every `every` steps (when step % every == 0, of the step told last), None otherwise:

            step 100  loss 0.5231  trend -0.0123  norm 3.4 [clipped]  clipped 37%  lr 0.001

        "trend" is the mean of the newer half of the last `window` finite losses minus that of the older half, with its
        sign; it is left out, with its name, while there are fewer than four. "[clipped]" stands there only if this step
        was. "clipped" is the share of all finite steps so far, rounded to whole percent. Loss and trend with four
        decimals, norm with one, the rate as str() writes it. Two spaces between the parts.
        """
        raise NotImplementedError

    def summary(self):
        """{"steps": all, "skipped": not finite, "clipped": a share of the finite ones from 0 to 1, "worst_norm": the
        largest finite norm or None, "first_bad": the first step that was not finite or None}"""
        raise NotImplementedError
