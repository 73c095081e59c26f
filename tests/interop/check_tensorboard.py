"""Compares what TensorBoard's own reader finds in a sample folder of osler_sink_samples with what was recorded."""

import json
import math
import sys
from pathlib import Path

import numpy
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def number(value):
    return float(value)  # the strings nan, inf and -inf as well


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def compare(what, found, wanted, problems):
    if len(found) != len(wanted):
        problems.append(f"{what}: {len(found)} entries against {len(wanted)}")
        return
    for got, want in zip(found, wanted):
        if not all(same(a, b) for a, b in zip(got, want)):
            problems.append(f"{what}: {got} against {want}")
            return


def open_folder(folder):
    everything = {"scalars": 0, "tensors": 0, "histograms": 0}
    accumulator = EventAccumulator(str(folder), size_guidance=everything)
    accumulator.Reload()
    return accumulator


def check_scalars(accumulator, expected, problems):
    tags = set(accumulator.Tags()["scalars"])
    if tags != set(expected["scalars"]):
        problems.append(f"scalar tags differ: {sorted(tags ^ set(expected['scalars']))[:5]}")
        return
    for tag, wanted in expected["scalars"].items():
        found = [(e.step, e.wall_time, e.value) for e in accumulator.Scalars(tag)]
        narrow = [(s, t, float(numpy.float32(number(v)))) for s, t, v in wanted]
        compare(tag, found, narrow, problems)


def check_histograms(accumulator, expected, problems):
    for tag, wanted in expected["histograms"].items():
        events = accumulator.Histograms(tag)
        if [e.step for e in events] != [h["step"] for h in wanted]:
            problems.append(f"histogram {tag}: steps differ")
            continue
        for event, want in zip(events, wanted):
            found = event.histogram_value
            for field in ("min", "max", "num", "sum", "sum_squares"):
                if getattr(found, field) != want[field]:
                    problems.append(f"histogram {tag} at {want['step']}: {field} differs")
            if list(found.bucket_limit) != want["bucket_limit"] or list(found.bucket) != want["bucket"]:
                problems.append(f"histogram {tag} at {want['step']}: buckets differ")


def check_text(accumulator, expected, problems):
    for key, wanted in expected["config"].items():
        texts = [e.tensor_proto.string_val[0].decode() for e in accumulator.Tensors("config/" + key)]
        if texts != [wanted]:
            problems.append(f"text {key}: {texts} against {wanted}")


def main():
    folder = Path(sys.argv[1])
    expected = json.loads((folder / "expected.json").read_text())
    problems = []
    plain = open_folder(folder / "tensorboard")
    check_scalars(plain, expected, problems)
    check_histograms(plain, expected, problems)
    check_text(plain, expected, problems)
    check_scalars(open_folder(folder / "tensorboard-exact"), expected, problems)
    for problem in problems[:20]:
        print(problem, file=sys.stderr)
    points = sum(len(events) for events in expected["scalars"].values())
    print(f"{len(problems)} differences in {points} scalars and {len(expected['histograms'])} histogram series")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
