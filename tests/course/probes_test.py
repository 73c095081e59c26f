#!/usr/bin/env python3
"""Runs every probe of the gallery on a sick and on a healthy training, as the lessons tell learners to.

    probes_test.py PROGRAM [unittest's own words]
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv.pop(1)).resolve()
HEALTHY = "healthy-digits"
# A patient whose illness the probe must see, and what it must say of it; None: it measures, and judges nothing here.
SICK = {
    "checkup": ("eval-mode-in-training", "train-mode"),
    "initialisation": ("signal-dies-out", "tensors start badly"),
    "overfit": ("lr-too-low", "learning-rate-too-low"),
    "lr-range": ("lr-too-low", "is suggested"),
    "update-ratios": ("lr-too-low", "4 of 4 weights"),
    "noise-scale": ("batch-of-one", "so steps are mostly noise"),
    "sharpness": ("sharp-minimum", "a sharp minimum"),
    "surface": ("dead-relu-lr", None),
    "curvature": ("saddle-at-zero", None),
    "fresh-start": ("lr-too-low", "at 10 times the rate"),
    "settle": ("vanishing-sigmoid", "vanishing-signal leads clearly"),
}


def gallery(*words, folder):
    return subprocess.run([PROGRAM, "gallery", *words], cwd=folder, capture_output=True, text=True, timeout=600,
                          check=False, env={"COLUMNS": "100", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"})


def experiments(folder, patient):
    run = Path(folder) / "osler-gallery" / f"{patient}.osler"
    done = subprocess.run([PROGRAM, "diagnose", "--json", run], capture_output=True, text=True, timeout=120, check=False)
    report = json.loads(done.stdout)
    return {each["probe"]: each for each in report.get("reports", [report])[0]["experiments"]}


@unittest.skipUnless((PROGRAM.parent / "osler-gallery").exists(), "this build has no gallery")
class Probes(unittest.TestCase):
    def test_there_is_a_sick_training_for_each(self):
        with tempfile.TemporaryDirectory() as folder:
            listed = gallery("--help", folder=folder).stdout.split("Probes, for --probe:")[1].split("\n\n")[0]
        self.assertEqual(set(re.findall(r"^ +([a-z-]+) ", listed, re.MULTILINE)), set(SICK))

    def test_an_unknown_one_is_refused_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            done = gallery(HEALTHY, "--probe", "crystal-ball", folder=folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no probe 'crystal-ball'", done.stderr)
        self.assertIn("lr-range", done.stderr)

    def check(self, probe):
        patient, words = SICK[probe]
        with tempfile.TemporaryDirectory() as folder:
            sick = gallery(patient, "--probe", probe, folder=folder)
            self.assertEqual(sick.returncode, 0 if words is None else 1, sick.stdout + sick.stderr)
            if words is not None:
                self.assertIn(words, " ".join(sick.stdout.split()))
            healthy = gallery(HEALTHY, "--probe", probe, folder=folder)
            self.assertEqual(healthy.returncode, 0, healthy.stdout + healthy.stderr)
            kept = experiments(folder, HEALTHY)
            if probe == "settle":
                self.assertIn("Nothing needs an explanation", healthy.stdout)
            else:
                self.assertTrue(kept, "the run does not keep what was found")
                self.assertNotIn("failed", {each["outcome"] for each in kept.values()})

    def test_the_training_is_the_same_with_and_without_a_probe(self):
        with tempfile.TemporaryDirectory() as folder:
            truths = [re.search(r"On clean data +(.*)", gallery(HEALTHY, *words, folder=folder).stdout).group(1)
                      for words in ([], ["--probe", "lr-range", "--probe", "overfit", "--probe", "sharpness"])]
        self.assertEqual(*truths)


for each in SICK:
    setattr(Probes, "test_" + each.replace("-", "_"), lambda self, probe=each: self.check(probe))


if __name__ == "__main__":
    unittest.main()
