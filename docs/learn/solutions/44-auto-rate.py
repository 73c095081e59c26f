"""Exercise 44: a rate that looks after itself, lower after an explosion, higher on a plateau."""

import math

FASTER = 1.5


class AutoRate:
    """Tell it every loss; it says at which rate to go on, and from which weights."""

    def __init__(self, rate, highest=1.0, patience=20, least_gain=0.01, worse=3.0):
        self.rate, self.ceiling = rate, highest
        self.patience, self.least_gain, self.worse = patience, least_gain, worse
        self.best, self.best_weights, self.waited = None, None, 0

    def tell(self, loss, weights):
        """Takes a loss and its weights; gives the rate of the next step and the weights to take it from."""
        if not math.isfinite(loss) or (self.best is not None and loss > self.worse * self.best):
            self.ceiling, self.rate, self.waited = self.rate, self.rate / 2, 0
            return self.rate, list(weights if self.best_weights is None else self.best_weights)
        if self.best is None or loss < (1 - self.least_gain) * self.best:
            self.best, self.best_weights, self.waited = loss, list(weights), 0
            return self.rate, weights
        self.waited += 1
        if self.waited >= self.patience:
            self.waited = 0
            if FASTER * self.rate < self.ceiling:
                self.rate *= FASTER
        return self.rate, weights
