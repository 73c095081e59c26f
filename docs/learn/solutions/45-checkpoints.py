"""Exercise 45: checkpoints that survive a crash, a full disk and a NaN."""

import json
import math
import os


class Checkpoints:
    """Keeps the newest checkpoints of a training in a folder, and the best."""

    def __init__(self, folder, keep=5):
        self.folder, self.keep = folder, keep

    def save(self, step, loss, state):
        """Writes a checkpoint so that a crash cannot spoil it, and removes what is too old."""
        text = json.dumps({"step": step, "loss": loss, "state": state})  # before anything is touched
        path = self.folder / f"step-{step:08d}.json"
        beside = path.with_suffix(".new")
        try:
            with open(beside, "w") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        best = self.best()
        for old in self.files()[: -self.keep]:
            if best is None or old != self.folder / f"step-{best['step']:08d}.json":
                old.unlink()

    def files(self):
        """All checkpoints, the oldest first: eight digits sort as numbers do."""
        return sorted(self.folder.glob("step-*.json"))

    def readable(self):
        """What can be read, the oldest first."""
        for path in self.files():
            try:
                yield json.loads(path.read_text())
            except ValueError:
                continue

    def newest(self):
        """The newest checkpoint that can be read, or None."""
        return max(self.readable(), key=lambda each: each["step"], default=None)

    def best(self):
        """The one with the lowest finite loss, of equals the newest, or None."""
        finite = (each for each in self.readable() if math.isfinite(each["loss"]))
        return min(finite, key=lambda each: (each["loss"], -each["step"]), default=None)
