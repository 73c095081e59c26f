#!/usr/bin/env python3
"""The laboratory of the course: trains a small network in plain Python and logs it as CSV, layer by layer.

    python3 lab.py > healthy.csv
    python3 lab.py --activation sigmoid --depth 8 > vanishing.csv
    python3 lab.py --range-test > range.csv

Three noisy spirals are to be told apart. Every number in a log was measured in a training that really happened; the same
options and the same seed give the same log. It needs nothing but Python. Break it as you like and ask Osler what you did.
"""

import argparse
import csv
import math
import random
import sys
from operator import mul

CLASSES, HELD_OUT = 3, 150
ADAM_MEAN, ADAM_SQUARE, ADAM_FLOOR = 0.9, 0.999, 1e-8
RANGE_FROM, RANGE_TO, RANGE_WORSE = 1e-5, 100.0, 3.0  # the range test ends when the loss is three times its first


def spirals(count, rng, options):
    """Points beside the arms of a spiral, each with its class; some labels are wrong on purpose."""
    points = []
    for i in range(count):
        label, along = i % CLASSES, rng.uniform(0.1, 1)
        angle = 2.5 * along + 2 * math.pi * label / CLASSES + rng.gauss(0, 0.25)
        inputs = [options.input_scale * along * math.cos(angle), options.input_scale * along * math.sin(angle)]
        points.append((inputs, rng.randrange(CLASSES) if rng.random() < options.label_noise else label))
    return points


def sigmoid(z):
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


# Each activation with its slope, which is written in terms of the output: that is at hand on the way back.
ACTIVATIONS = {
    "relu": (lambda z: z if z > 0 else 0.0, lambda a: 1.0 if a > 0 else 0.0),
    "tanh": (math.tanh, lambda a: 1 - a * a),
    "sigmoid": (sigmoid, lambda a: a * (1 - a)),
}


class Network:
    """`depth` hidden layers and a softmax. weights[l][j] are the weights into unit j of layer l, its bias last."""

    def __init__(self, options, rng):
        self.activate, self.slope = ACTIVATIONS[options.activation]
        self.residual = options.residual
        sizes = [2] + [options.width] * options.depth + [CLASSES]
        gain = 2 if options.activation == "relu" else 1
        self.weights = []
        for layer, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
            spread = options.init * math.sqrt(gain / fan_in)
            bias = options.bias if layer < options.depth else 0.0
            self.weights.append([[rng.gauss(0, spread) for _ in range(fan_in)] + [bias] for _ in range(fan_out)])

    def forward(self, inputs):
        """What each layer gives out, the inputs first; what its activations alone give; the log-probabilities."""
        outputs, activations = [inputs], []
        for layer, rows in enumerate(self.weights):
            before = outputs[-1] + [1.0]
            sums = [sum(map(mul, row, before)) for row in rows]
            if layer == len(self.weights) - 1:
                break
            after = [self.activate(z) for z in sums]
            activations.append(after)
            around = self.residual and layer > 0
            outputs.append([a + b for a, b in zip(after, outputs[-1])] if around else after)
        top = max(sums)
        total = top + math.log(sum(math.exp(z - top) for z in sums))
        return outputs, activations, [z - total for z in sums]

    def gradient(self, batch):
        """The mean cross-entropy of a batch, its gradient by layer, and the activations of every sample."""
        slopes = [[[0.0] * len(row) for row in rows] for rows in self.weights]
        loss, seen = 0.0, []
        for inputs, label in batch:
            outputs, activations, logs = self.forward(inputs)
            seen.append(activations)
            loss -= logs[label] / len(batch)
            at_sums = [(math.exp(log) - (c == label)) / len(batch) for c, log in enumerate(logs)]
            for layer in range(len(self.weights) - 1, -1, -1):
                before = outputs[layer] + [1.0]
                for row, slope in zip(slopes[layer], at_sums):
                    if slope:
                        row[:] = [s + slope * x for s, x in zip(row, before)]
                if layer == 0:
                    break
                columns = zip(*self.weights[layer])
                below = [sum(map(mul, at_sums, column)) for _, column in zip(outputs[layer], columns)]
                if self.residual and 0 < layer < len(self.weights) - 1:
                    below = [b + a for b, a in zip(below, at_outputs)]  # the way around the layer
                at_outputs = below
                at_sums = [b * self.slope(a) for b, a in zip(below, activations[layer - 1])]
        return loss, slopes, seen

    def evaluate(self, data):
        """The mean loss and the share of right answers."""
        answers = [(self.forward(inputs)[2], label) for inputs, label in data]
        loss = -sum(logs[label] for logs, label in answers) / len(data)
        return loss, sum(max(logs) == logs[label] for logs, label in answers) / len(data)


def norm(rows):
    return math.sqrt(sum(value * value for row in rows for value in row))


class Optimizer:
    """SGD with momentum, or Adam, over the rows of a network."""

    def __init__(self, network, options):
        self.kind, self.momentum, self.decay = options.optimizer, options.momentum, options.weight_decay
        self.rows = [row for rows in network.weights for row in rows]
        self.mean = [[0.0] * len(row) for row in self.rows]
        self.square = [[0.0] * len(row) for row in self.rows]
        self.steps = 0

    def step(self, slopes, rate):
        """Moves the weights; says how far, for each layer."""
        self.steps += 1
        moved, at = [], 0
        for layer in slopes:
            total = 0.0
            for slope in layer:
                total += self.move(at, slope, rate)
                at += 1
            moved.append(math.sqrt(total))
        return moved

    def move(self, at, slope, rate):
        row, mean, square, total = self.rows[at], self.mean[at], self.square[at], 0.0
        for i, g in enumerate(slope):
            g += self.decay * row[i]
            if self.kind == "adam":
                mean[i] = ADAM_MEAN * mean[i] + (1 - ADAM_MEAN) * g
                square[i] = ADAM_SQUARE * square[i] + (1 - ADAM_SQUARE) * g * g
                change = mean[i] / (1 - ADAM_MEAN ** self.steps)
                change /= math.sqrt(square[i] / (1 - ADAM_SQUARE ** self.steps)) + ADAM_FLOOR
            else:
                change = mean[i] = self.momentum * mean[i] + g
            row[i] -= rate * change
            total += (rate * change) ** 2
        return total


def rate_at(step, options):
    """The learning rate of a step by the schedule: a warm-up, then constant, cosine, linear or in steps."""
    warmup = options.warmup * options.steps
    if step < warmup:
        return options.rate * (step + 1) / warmup
    done = (step - warmup) / max(1, options.steps - warmup)
    if options.schedule == "cosine":
        return options.rate * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)
    if options.schedule == "linear":
        return options.rate * (1 - 0.99 * done)
    if options.schedule == "step":
        return options.rate * 0.1 ** int(3 * done)
    return options.rate


def silent(seen, layer, units):
    """The share of a layer's units that gave nothing for any sample of the batch."""
    return sum(all(sample[layer][u] == 0 for sample in seen) for u in range(units)) / units


def columns_of(options):
    layers = [f"layer{i + 1}" for i in range(options.depth)] + ["head"]
    names = ["step", "train_loss", "val_loss", "val_accuracy", "lr", "grad_norm"]
    if not options.curves_only:
        names += [f"grad_norm/{name}" for name in layers] + [f"update_ratio/{name}" for name in layers]
        names += [f"zero_share/{name}" for name in layers[:-1]]
    return names


def written(value):
    return value if isinstance(value, (int, str)) else f"{value:.5g}"


def train(options, log):
    rng = random.Random(options.seed)
    training, held_out = spirals(options.samples, rng, options), spirals(HELD_OUT, rng, options)
    network = Network(options, rng)
    optimizer = Optimizer(network, options)
    log.writerow(columns_of(options))
    order = []
    for step in range(options.steps):
        if len(order) < options.batch:
            order = rng.sample(training, len(training))
        batch, order = order[:options.batch], order[options.batch:]
        measured = network.evaluate(held_out) if step % options.evaluate_every == 0 else ("", "")
        loss, slopes, seen = network.gradient(batch)
        norms = [norm(rows) for rows in slopes]
        total = math.sqrt(sum(n * n for n in norms))
        if options.clip and total > options.clip:
            slopes = [[[g * options.clip / total for g in row] for row in rows] for rows in slopes]
        weights = [norm(rows) for rows in network.weights]
        rate = rate_at(step, options)
        moved = optimizer.step(slopes, rate)
        if step % options.log_every == 0:
            cells = [step, loss, *measured, rate, total]
            if not options.curves_only:
                cells += norms + [m / w if w else 0.0 for m, w in zip(moved, weights)]
                cells += [silent(seen, layer, options.width) for layer in range(options.depth)]
            log.writerow([written(cell) for cell in cells])


def range_test(options, log):
    """Raises the rate a little at every step and logs the loss beside it, until the loss has blown up."""
    rng = random.Random(options.seed)
    training = spirals(options.samples, rng, options)
    network = Network(options, rng)
    optimizer = Optimizer(network, options)
    log.writerow(["step", "lr", "train_loss"])
    first = None
    for step in range(options.steps):
        rate = RANGE_FROM * (RANGE_TO / RANGE_FROM) ** (step / max(1, options.steps - 1))
        loss, slopes, _ = network.gradient(rng.sample(training, options.batch))
        log.writerow([written(cell) for cell in (step, rate, loss)])
        first = loss if first is None else first
        if not loss < RANGE_WORSE * first:
            break
        optimizer.step(slopes, rate)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=0.05, help="the learning rate, or its peak (%(default)s)")
    parser.add_argument("--schedule", choices=("constant", "cosine", "linear", "step"), default="cosine")
    parser.add_argument("--warmup", type=float, default=0.05, help="the share of the steps (%(default)s)")
    parser.add_argument("--optimizer", choices=("sgd", "adam"), default="sgd")
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--weight-decay", type=float, default=0.0)
    parser.add_argument("--clip", type=float, default=0.0, help="the largest gradient norm; 0 for none")
    parser.add_argument("--activation", choices=sorted(ACTIVATIONS), default="relu")
    parser.add_argument("--depth", type=int, default=3, help="hidden layers (%(default)s)")
    parser.add_argument("--width", type=int, default=12, help="units of each (%(default)s)")
    parser.add_argument("--residual", action="store_true", help="add each layer's input to its output")
    parser.add_argument("--init", type=float, default=1.0, help="times the usual first weights (%(default)s)")
    parser.add_argument("--bias", type=float, default=0.0, help="the first bias of the hidden units")
    parser.add_argument("--samples", type=int, default=600, help="to train on (%(default)s)")
    parser.add_argument("--label-noise", type=float, default=0.0, help="the share of labels drawn at random")
    parser.add_argument("--input-scale", type=float, default=1.0, help="255 makes pixels of them")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--log-every", type=int, default=2)
    parser.add_argument("--evaluate-every", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--curves-only", action="store_true", help="log no layers, as most trainings do")
    parser.add_argument("--range-test", action="store_true", help="raise the rate step by step instead of training")
    options = parser.parse_args()
    log = csv.writer(sys.stdout, lineterminator="\n")
    try:
        (range_test if options.range_test else train)(options, log)
    except (OverflowError, ValueError, ZeroDivisionError):  # plain Python raises where a framework gives NaN
        print("lab.py: a number left the range of a float; the log ends here", file=sys.stderr)


if __name__ == "__main__":
    main()
