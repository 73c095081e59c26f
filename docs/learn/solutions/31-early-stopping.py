"""Exercise 31: stop when validation no longer improves, and keep what was best."""

import math


class EarlyStopping:
    """Tell it every validation loss; it says when to stop and which weights were best."""

    def __init__(self, patience, least_gain=0.0):
        self.patience, self.least_gain = patience, least_gain
        self.waited, self.best_loss, self.best_weights = 0, None, None

    def tell(self, loss, weights):
        """Takes the loss of an evaluation and its weights; True when training should stop."""
        # Compared with the best that counted, not with the loss before: so slow progress adds up.
        if math.isfinite(loss) and (self.best_loss is None or loss < self.best_loss - self.least_gain):
            self.waited, self.best_loss, self.best_weights = 0, loss, list(weights)
            return False
        self.waited += 1
        return self.waited >= self.patience
