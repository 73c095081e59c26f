"""The price of a DataFrame: osler.diagnose on a million rows against the same numbers added and diagnosed in C++ alone.

Needs pandas and the osler package: PYTHONPATH=build/release/python/package python3 bench/table_bench.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, Callable

import numpy
import pandas

import osler
from osler import _core


def frame_of(rows: int) -> Any:
    """Losses, an accuracy, a rate, a gradient norm, and a validation every thousandth row."""
    random = numpy.random.default_rng(1)
    steps = numpy.arange(rows)
    loss = 0.3 + 2 * numpy.exp(-steps / (rows / 6)) + 0.02 * random.standard_normal(rows)
    validated = numpy.where(steps % 1000 == 999, loss + 0.05, numpy.nan)
    return pandas.DataFrame(
        {
            "step": steps,
            "train_loss": loss,
            "train_accuracy": 1 - loss / 3,
            "lr": numpy.full(rows, 1e-3),
            "grad_norm": numpy.exp(0.3 * random.standard_normal(rows)),
            "val_loss": validated,
        }
    )


def in_cpp(frame: Any) -> Callable[[], Any]:
    """What C++ alone does with the same numbers: the columns lie ready, gaps are marked."""
    steps = frame["step"].to_numpy()
    columns = []
    for name in frame.columns[1:]:
        present = frame[name].notna().to_numpy()
        columns.append((name, frame[name].to_numpy(), None if present.all() else present.tobytes()))

    def run() -> Any:
        core = _core.Run("run")
        core.add_table(steps, columns)
        return osler.diagnose(osler.Run(core))

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    frame = frame_of(options.rows)
    ways: dict[str, Callable[[], Any]] = {"C++ alone": in_cpp(frame), "DataFrame": lambda: osler.diagnose(frame)}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):  # in turns, so that a busy moment of the machine meets both
        for name, run in ways.items():
            begin = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begin)
    for name, seconds in times.items():
        print(f"{name:10} {1000 * statistics.median(seconds):8.1f} ms ({1000 * min(seconds):.1f} to {1000 * max(seconds):.1f})")
    ratios = [table / plain for plain, table in zip(*times.values())]
    print(f"ratio      {statistics.median(ratios):8.3f}    ({min(ratios):.3f} to {max(ratios):.3f})")


if __name__ == "__main__":
    main()
