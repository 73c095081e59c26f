"""Tests of exercise 45."""
import importlib.util
import math
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


class Keeping(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)
        self.kept = answer.Checkpoints(self.folder, keep=3)

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def steps(self):
        return [int(name[5:13]) for name in self.names()]

    def test_at_first_there_is_none(self):
        self.assertIsNone(self.kept.newest())
        self.assertIsNone(self.kept.best())

    def test_what_is_saved_comes_back(self):
        self.kept.save(12, 0.5, {"weights": [1.0, 2.0], "seed": 7})
        self.assertEqual(self.names(), ["step-00000012.json"])
        self.assertEqual(self.kept.newest(), {"step": 12, "loss": 0.5, "state": {"weights": [1.0, 2.0], "seed": 7}})

    def test_the_newest_few_are_kept(self):
        for step in (5, 10, 100, 1000):
            self.kept.save(step, 1.0 / step, {})
        self.assertEqual(self.steps(), [10, 100, 1000])

    def test_the_best_is_kept_however_old(self):
        for step, loss in ((1, 0.1), (2, 0.9), (3, 0.8), (4, 0.7), (5, 0.6)):
            self.kept.save(step, loss, {})
        self.assertEqual(self.steps(), [1, 3, 4, 5])
        self.assertEqual(self.kept.best()["step"], 1)

    def test_of_equals_the_newest_is_the_best(self):
        for step in (1, 2, 3):
            self.kept.save(step, 0.5, {})
        self.assertEqual(self.kept.best()["step"], 3)

    def test_a_nan_is_never_the_best(self):
        for step, loss in ((1, math.nan), (2, 0.5), (3, math.inf), (4, math.nan), (5, math.nan)):
            self.kept.save(step, loss, {})
        self.assertEqual(self.kept.best()["step"], 2)
        self.assertEqual(self.kept.newest()["step"], 5)

    def test_what_cannot_be_written_harms_nothing(self):
        self.kept.save(1, 0.5, {"weights": [1.0]})
        with self.assertRaises(TypeError):
            self.kept.save(1, 0.4, {"weights": object()})
        self.assertEqual(self.kept.newest()["loss"], 0.5)
        self.assertEqual(self.names(), ["step-00000001.json"])

    def test_a_full_disk_harms_nothing(self):
        self.kept.save(1, 0.5, {})
        with mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")):
            with self.assertRaises(OSError):
                self.kept.save(2, 0.4, {})
        self.assertEqual(self.names(), ["step-00000001.json"])

    def test_it_is_on_the_disk_before_it_takes_its_name(self):
        order = []
        fsync, replace = os.fsync, os.replace
        with mock.patch("os.fsync", side_effect=lambda fd: (order.append("fsync"), fsync(fd))):
            with mock.patch("os.replace", side_effect=lambda a, b: (order.append("replace"), replace(a, b))):
                self.kept.save(1, 0.5, {})
        self.assertIn("replace", order)
        self.assertEqual(order[:2], ["fsync", "replace"])

    def test_a_damaged_file_is_passed_over_and_left_where_it_is(self):
        self.kept.save(1, 0.5, {"weights": [1.0]})
        self.kept.save(2, 0.4, {"weights": [2.0]})
        path = self.folder / "step-00000002.json"
        path.write_text(path.read_text()[:20])
        self.assertEqual(self.kept.newest()["step"], 1)
        self.assertEqual(self.kept.best()["step"], 1)
        self.assertTrue(path.exists())

    def test_a_second_life_sees_those_of_the_first(self):
        for step in (1, 2, 3):
            self.kept.save(step, 1.0 - 0.1 * step, {})
        again = answer.Checkpoints(self.folder, keep=3)
        self.assertEqual(again.newest()["step"], 3)
        again.save(4, 0.9, {})
        self.assertEqual(self.steps(), [2, 3, 4])

    def test_other_files_are_none_of_its_business(self):
        (self.folder / "notes.txt").write_text("mine")
        for step in (1, 2, 3, 4, 5):
            self.kept.save(step, 1.0 - 0.1 * step, {})
        self.assertEqual(self.names(), ["notes.txt", *(f"step-0000000{step}.json" for step in (3, 4, 5))])


unittest.main()
