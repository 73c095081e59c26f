"""What watching costs a PyTorch training on the CPU, beside what people use today: gradient norms, histograms, anomaly mode.

Needs PyTorch and the osler package: PYTHONPATH=build/release/python/package python3 bench/monitor_bench.py [mlp cnn lstm gpt]
Blocks of steps with and without take turns, so that a busy moment of the machine meets both. Each block goes on with
its own model; what is told is the median of the ratios of neighbouring blocks, with the quarter below and above it.
With --cpu it is the time that the process was at work, on all of its threads, which a busy machine does not lengthen so much.
Before that, what the first thousand steps cost from the first one on: the close looks at the beginning may take 1 % of
them or 2 seconds, whichever is more.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
import warnings
from typing import Any, Callable

import torch
from torch import nn
from torch.nn import functional

from osler.torch import Monitor


class Gpt(nn.Module):
    """Two layers of a small transformer on 48 letters."""

    def __init__(self) -> None:
        super().__init__()
        self.letters, self.places = nn.Embedding(64, 128), nn.Embedding(48, 128)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(128, 4, 512, 0.0, batch_first=True) for _ in range(2))
        self.head = nn.Linear(128, 64)

    def forward(self, x: Any) -> Any:
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        y = self.letters(x) + self.places(torch.arange(x.shape[1]))
        for block in self.blocks:
            y = block(y, mask)
        return self.head(y).transpose(1, 2)


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(16, 96, batch_first=True), nn.Linear(96, 10)

    def forward(self, x: Any) -> Any:
        return self.head(self.lstm(x)[0][:, -1])


def mlp() -> Any:
    return nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def cnn() -> Any:
    parts: list[Any] = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


# A model, one input of a batch, and the shape of the targets; each step takes some milliseconds.
TASKS: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]] = {
    "mlp": (mlp, lambda: torch.randn(256, 256), lambda: torch.randint(0, 10, (256,))),
    "cnn": (cnn, lambda: torch.randn(48, 1, 28, 28), lambda: torch.randint(0, 10, (48,))),
    "lstm": (Lstm, lambda: torch.randn(32, 32, 16), lambda: torch.randint(0, 10, (32,))),
    "gpt": (Gpt, lambda: torch.randint(0, 64, (16, 48)), lambda: torch.randint(0, 64, (16, 48))),
}


clock: Callable[[], float] = time.perf_counter


class Trained:
    """One training that goes on block by block, with or without something that looks at it."""

    def __init__(self, task: str, way: str) -> None:
        torch.manual_seed(1)
        build, inputs, targets = TASKS[task]
        self._model = build()
        self._x, self._y = inputs(), targets()
        self._optimizer = torch.optim.AdamW(self._model.parameters(), 1e-4)
        self._way = way
        told: Callable[..., None] = lambda *_: None  # so that it diagnoses
        options: Any = {"default": {}, "statistics": {"statistics_every": 1}, "told": {"on_finding": told}}.get(way)
        self._monitor = None if options is None else Monitor(self._model, self._optimizer, on_line=None, **options)
        self.kept: Any = None

    def _look(self) -> None:
        gradients = [each.grad for each in self._model.parameters()]
        if self._way == "norms":  # as Lightning's grad_norm, whose numbers a logger then takes
            self.kept = [float(each.norm(2)) for each in gradients]
        if self._way == "histograms":  # as wandb.watch does, which by default looks every thousandth step
            self.kept = [torch.histc(each, 64).tolist() for each in gradients]

    def early_seconds(self) -> float:
        """What the close looks at the first steps took."""
        return self._monitor.early_seconds if self._monitor is not None else 0.0

    def block(self, steps: int) -> float:
        around = torch.autograd.detect_anomaly() if self._way == "anomaly" else contextlib.nullcontext()
        begin = clock()
        with around:
            for step in range(-UNTIMED, steps):
                if step == 0:
                    begin = clock()
                self._optimizer.zero_grad()
                loss = functional.cross_entropy(self._model(self._x), self._y)
                loss.backward()
                self._look()
                if self._monitor is None or self._monitor.step(loss):
                    self._optimizer.step()
        return (clock() - begin) / steps


UNTIMED = 5  # steps at the beginning of a block: the caches, and what the budget was given for the others' turns
BEGINNING = 1000
MOST_SECONDS, MOST_SHARE = 2.0, 0.01


def tell_beginning(task: str) -> None:
    without = BEGINNING * Trained(task, "").block(BEGINNING)
    watched = Trained(task, "told")
    extra = BEGINNING * watched.block(BEGINNING) - without
    early, most = watched.early_seconds(), max(MOST_SECONDS, MOST_SHARE * without)
    print(
        f"{task}: the first {BEGINNING} steps take {without:.2f} s without, {extra:+.2f} s with ({100 * extra / without:+.1f} %); "
        f"close looks {early:.3f} s of at most {most:.2f} s{': TOO MUCH' if early > most else ''}",
        flush=True,
    )


WAYS = {
    "again": "without, a second time",
    "default": "Monitor, as it comes",
    "statistics": "Monitor, statistics on every step",
    "norms": "norm of every gradient, every step",
    "histograms": "histogram of every gradient, every step",
    "anomaly": "anomaly mode",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=list(TASKS), help="which of mlp, cnn, lstm, gpt")
    parser.add_argument("--blocks", type=int, default=21)
    parser.add_argument("--seconds", type=float, default=0.25, help="of a block")
    parser.add_argument("--cpu", action="store_true", help="count the time that the process was at work, not what passed")
    options = parser.parse_args()
    if options.cpu:
        global clock
        clock = time.process_time
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "Anomaly Detection")
    for task in options.tasks:
        tell_beginning(task)
        plain = Trained(task, "")
        steps = max(3, round(options.seconds / plain.block(10)))
        trained = {way: Trained(task, way) for way in WAYS}
        for each in trained.values():
            each.block(60)  # the first 50 steps are looked at closely by design, and told apart
        without, ratios = [], {way: [] for way in WAYS}  # type: tuple[list[float], dict[str, list[float]]]
        for _ in range(options.blocks):
            for way, each in trained.items():
                base = plain.block(steps)
                without.append(base)
                ratios[way].append(each.block(steps) / base - 1)
        print(f"{task}: a step without takes {1000 * statistics.median(without):.2f} ms, {steps} steps in a block")
        for way, words in WAYS.items():
            low, middle, high = statistics.quantiles(ratios[way], n=4)
            print(f"  {words:40} {100 * middle:+7.1f} %  ({100 * low:+.1f} to {100 * high:+.1f})", flush=True)


if __name__ == "__main__":
    main()
