"""Exercise 40: a history of a training that a program can ask and a person can read."""


class History:
    """Keeps series of (step, value) and writes them as the CSV that any tool can read."""

    def __init__(self):
        raise NotImplementedError

    def add(self, step, **values):
        """Notes values by name: history.add(10, train_loss=0.7, lr=0.1). Names may come and go. A value that is not
        finite is kept: it is the most important one. A step that goes back (a resume) takes away what every series has
        from that step on."""
        raise NotImplementedError

    def series(self, name):
        """The list of (step, value) of a series, in order; empty for a name that was never told."""
        raise NotImplementedError

    def best(self, name):
        """The (step, value) with the lowest finite value, the first of equals; None where there is none."""
        raise NotImplementedError

    def csv(self):
        """A header "step,name,name" with the names in the order of their first appearance, then one row for each step in
        rising order, with nothing between the commas where a series has no value at that step. Values as repr writes
        them. Every line ends in a line feed."""
        raise NotImplementedError
