"""Asks a running TensorBoard with its Rust data server for what osler_sink_samples recorded, over HTTP."""

import json
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import numpy

PORT = 6123
PATIENCE_SECONDS = 90


def ask(route, **query):
    address = f"http://127.0.0.1:{PORT}/data/{route}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(address, timeout=30) as answer:
        return json.load(answer)


def wait_for_tags(run, count):
    """The tags of the run, once all of them are loaded."""
    end = time.time() + PATIENCE_SECONDS
    tags = {}
    while time.time() < end:
        try:
            tags = ask("plugin/scalars/tags").get(run, {})
        except OSError:
            pass
        if len(tags) >= count:
            return tags
        time.sleep(0.5)
    return tags


def check(run, expected, problems):
    tags = wait_for_tags(run, len(expected["scalars"]))
    for tag, wanted in expected["scalars"].items():
        if tag not in tags:
            problems.append(f"{run}: no tag {tag}")
            continue
        found = [(step, value) for _, step, value in ask("plugin/scalars/scalars", run=run, tag=tag)]
        narrow = [(s, float(numpy.float32(float(v)))) for s, _, v in wanted]
        # The server keeps a sample of long series: what it has must be what was recorded.
        known = {(s, repr(v)) for s, v in narrow}
        odd = [point for point in found if (point[0], repr(float(point[1]))) not in known]
        if not found or odd:
            problems.append(f"{run}: {tag}: {odd[:1] or 'nothing'}")
    for tag, wanted in expected["histograms"].items():
        found = ask("plugin/histograms/histograms", run=run, tag=tag)
        counts = [sum(bucket[2] for bucket in buckets) for _, _, buckets in found]
        if [step for _, step, _ in found] != [h["step"] for h in wanted] or any(
                abs(count - h["num"]) > 1e-6 for count, h in zip(counts, wanted)):
            problems.append(f"{run}: histogram {tag} differs")


def main():
    folder = Path(sys.argv[1])
    expected = json.loads((folder / "expected.json").read_text())
    server = subprocess.Popen(
        ["tensorboard", "--logdir", str(folder), "--port", str(PORT), "--load_fast=true"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    problems = []
    try:
        check("tensorboard", expected, problems)
        check("tensorboard-exact", expected, problems)
    finally:
        server.terminate()
    for problem in problems[:20]:
        print(problem, file=sys.stderr)
    print(f"{len(problems)} differences over HTTP")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
