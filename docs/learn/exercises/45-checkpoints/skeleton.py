"""Exercise 45: checkpoints that survive a crash, a full disk and a NaN."""


class Checkpoints:
    """Keeps the newest checkpoints of a training in a folder, and the best."""

    def __init__(self, folder, keep=5):
        """`folder` (a pathlib.Path) exists. It may hold checkpoints of an earlier life of the training: they count."""
        raise NotImplementedError

    def save(self, step, loss, state):
        """Writes {"step": step, "loss": loss, "state": state} as JSON to step-00000012.json, eight digits.

        Whatever happens on the way (json.dumps raises, the disk is full, the power fails), the file of that name is
        either the old one or the new one, whole: write beside it, flush, os.fsync, os.replace, and leave nothing beside
        it when it failed. Then remove all but the newest `keep` by step, and the best: the lowest finite loss, of equals
        the newest.
        """
        raise NotImplementedError

    def newest(self):
        """The newest checkpoint that can be read, as the dict that was written; None where there is none. A file that is
        damaged is passed over, not removed."""
        raise NotImplementedError

    def best(self):
        """The checkpoint with the lowest finite loss, of equals the newest; None where there is none."""
        raise NotImplementedError
