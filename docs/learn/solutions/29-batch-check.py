"""Exercise 29: look at a batch before the network does."""

import math

FEW = 4  # so few samples may have one label by chance


class BatchCheck:
    """Looks at every batch of a classification before it is trained on."""

    def __init__(self, classes, largest=100.0):
        self.classes, self.largest, self.before = classes, largest, None

    def look(self, inputs, labels):
        """Words for what is wrong with this batch."""
        if not inputs:
            return ["empty"]
        if len(inputs) != len(labels):
            return ["lengths differ"]
        values = [value for sample in inputs for value in sample]
        batch = ([list(sample) for sample in inputs], list(labels))
        found = [
            ("not finite", not all(map(math.isfinite, values))),
            ("extreme", any(math.isfinite(value) and abs(value) > self.largest for value in values)),
            ("label out of range", not all(0 <= label < self.classes for label in labels)),
            ("one class", len(labels) >= FEW and len(set(labels)) == 1),
            ("one sample", len(inputs) > 1 and all(sample == inputs[0] for sample in inputs)),
            ("repeated", batch == self.before),
        ]
        self.before = batch
        return [word for word, holds in found if holds]
