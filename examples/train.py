#!/usr/bin/env python3
"""Trains a small network in plain Python and logs it as CSV: the source of the example logs, and a thing to break yourself.

    examples/train.py --rate 0.05 > examples/logs/healthy.csv
    examples/train.py --rate 10 > examples/logs/sick.csv

The network (2 inputs, 24 tanh units, 3 classes) learns to tell three noisy spirals apart by SGD with momentum and a long
warm-up of the learning rate. Nothing is drawn or faked: the first rate is right, the second is two hundred times too high.
"""

import argparse
import csv
import math
import random
import sys

CLASSES, UNITS, BATCH, MOMENTUM, WARMUP = 3, 24, 32, 0.9, 0.3
SAMPLES, HELD_OUT, LOG_EVERY, EVALUATE_EVERY = 900, 300, 5, 50


def sample(count, rng):
    """Points on the arms of a spiral, each a little beside it: (x, y, class)."""
    points = []
    for i in range(count):
        label, along = i % CLASSES, rng.uniform(0.1, 1)
        angle = 2.5 * along + 2 * math.pi * label / CLASSES + rng.gauss(0, 0.25)
        points.append((along * math.cos(angle), along * math.sin(angle), label))
    return points


class Network:
    """One hidden layer of tanh units and a softmax; each row of weights ends with its bias."""

    def __init__(self, rng):
        self.inner = [[rng.gauss(0, 1), rng.gauss(0, 1), 0.0] for _ in range(UNITS)]
        self.outer = [[rng.gauss(0, UNITS ** -0.5) for _ in range(UNITS)] + [0.0] for _ in range(CLASSES)]

    def forward(self, x, y):
        """What the units say, and the logarithm of the probability of each class."""
        hidden = [math.tanh(row[0] * x + row[1] * y + row[2]) for row in self.inner]
        logits = [sum(w * h for w, h in zip(row, hidden)) + row[-1] for row in self.outer]
        top = max(logits)
        total = top + math.log(sum(math.exp(logit - top) for logit in logits))
        return hidden, [logit - total for logit in logits]

    def evaluate(self, data):
        """The mean loss and the share of right answers."""
        outputs = [(self.forward(x, y)[1], label) for x, y, label in data]
        loss = -sum(logs[label] for logs, label in outputs) / len(data)
        return loss, sum(max(logs) == logs[label] for logs, label in outputs) / len(data)

    def gradient(self, batch):
        """The cross-entropy of a batch and its gradient, in the order of rows()."""
        inner = [[0.0] * 3 for _ in range(UNITS)]
        outer = [[0.0] * (UNITS + 1) for _ in range(CLASSES)]
        loss = 0.0
        for x, y, label in batch:
            hidden, logs = self.forward(x, y)
            loss -= logs[label] / len(batch)
            slopes = [(math.exp(log) - (c == label)) / len(batch) for c, log in enumerate(logs)]
            for c, slope in enumerate(slopes):
                for u, h in enumerate(hidden):
                    outer[c][u] += slope * h
                outer[c][-1] += slope
            for u, h in enumerate(hidden):
                back = (1 - h * h) * sum(slope * self.outer[c][u] for c, slope in enumerate(slopes))
                for i, value in enumerate((x, y, 1.0)):
                    inner[u][i] += back * value
        return loss, inner + outer

    def rows(self):
        return self.inner + self.outer


def rate_at(step, steps, peak):
    """Rises evenly over the first part of training and falls along a cosine to a fifth of its peak."""
    warmup = WARMUP * steps
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * (0.6 + 0.4 * math.cos(math.pi * (step - warmup) / (steps - warmup)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=0.05, help="the peak of the learning rate")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()

    rng = random.Random(options.seed)
    training, held_out = sample(SAMPLES, rng), sample(HELD_OUT, rng)
    network = Network(rng)
    velocity = [[0.0] * len(row) for row in network.rows()]
    log = csv.writer(sys.stdout, lineterminator="\n")
    log.writerow(["step", "train_loss", "val_loss", "val_accuracy", "lr", "grad_norm"])
    for step in range(options.steps):
        rate = rate_at(step, options.steps, options.rate)
        loss, gradient = network.gradient(rng.sample(training, BATCH))
        if step % LOG_EVERY == 0:
            norm = math.sqrt(sum(g * g for row in gradient for g in row))
            measured = network.evaluate(held_out) if step % EVALUATE_EVERY == 0 else ()
            cells = [f"{value:.5g}" for value in measured] or ["", ""]
            log.writerow([step, f"{loss:.5g}", *cells, f"{rate:.5g}", f"{norm:.5g}"])
        for row, speed, slope in zip(network.rows(), velocity, gradient):
            for i, g in enumerate(slope):
                speed[i] = MOMENTUM * speed[i] - rate * g
                row[i] += speed[i]


if __name__ == "__main__":
    main()
