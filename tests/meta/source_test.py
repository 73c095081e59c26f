#!/usr/bin/env python3
"""Sees that names which two places must share are said once, and that findings ask for no setting they do not declare."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SERIES_NAMES = ROOT / "src" / "run" / "series_names.h"
# What else begins with "osler/": keys of configurations and of checkpoints, not series.
NO_SERIES = {"src/run/experiment.cpp", "src/torch/train_checkpoint.cpp"}
PLACES = r"batch|check|gradient-noise-scale|init|logits|memory|origin|ranks|roll-back|time"


def sources(folder, *endings):
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in endings and "_test" not in path.name)


def told(path):
    """A path as the reader of a failure wants it."""
    return str(path.relative_to(ROOT))


class Names(unittest.TestCase):
    def setUp(self):
        self.known = re.findall(r'= "(osler/[^"]+)"', SERIES_NAMES.read_text())
        self.assertGreater(len(self.known), 30)

    def test_each_series_has_one_name(self):
        self.assertEqual(len(self.known), len(set(self.known)))

    def test_no_other_file_of_the_libraries_spells_a_series_of_the_monitor(self):
        for path in sources("src", ".cpp", ".h"):
            if path == SERIES_NAMES or told(path) in NO_SERIES:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if not line.lstrip().startswith(("#include", "//")):
                    self.assertNotRegex(line, r'"osler/[a-z]', f"{told(path)}:{number}: name it in {told(SERIES_NAMES)}")

    def test_python_writes_no_series_that_the_diagnosis_does_not_know(self):
        written = 0
        for path in sources("python/osler", ".py"):
            for name in re.findall(rf'f?"(osler/(?:{PLACES})[^"{{]*)', path.read_text()):
                written += 1
                self.assertTrue(any(known == name or (name.endswith("/") and known.startswith(name)) for known in self.known),
                                f"{told(path)}: '{name}' is not in {told(SERIES_NAMES)}")
        self.assertGreater(written, 0)


class Settings(unittest.TestCase):
    def test_findings_use_the_settings_that_they_declare_and_no_other(self):
        findings = sources("src/diagnosis/findings", ".cpp")
        self.assertGreater(len(findings), 70)
        for path in findings:
            text = path.read_text()
            declared = re.findall(r'\{"(\w+)",\s*-?[\d.e+-]+,\s*"', text)
            with self.subTest(finding=told(path)):
                asked = re.findall(r"settings\[((?:[^\[\]]|\[[^\]]*\])+)\]", text)  # a name, or a choice between two
                used = {name for choice in asked for name in re.findall(r'"(\w+)"', choice)}
                self.assertEqual(used - set(declared), set(), "asks for a setting that it does not declare")
                self.assertEqual(set(declared) - used, set(), "declares a setting that it never asks for")


if __name__ == "__main__":
    unittest.main()
