"""Tests of exercise 6."""
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


class Smoothing(unittest.TestCase):
    def test_the_first_value_stays_as_it_is(self):
        self.assertAlmostEqual(answer.smooth([4.0], 0.9)[0], 4.0, msg="without correction it would be 0.4")

    def test_a_constant_stays_constant(self):
        for value in answer.smooth([2.0] * 20, 0.95):
            self.assertAlmostEqual(value, 2.0)

    def test_two_values(self):
        self.assertAlmostEqual(answer.smooth([4.0, 2.0], 0.9)[1], 0.56 / 0.19)

    def test_beta_zero_smooths_nothing(self):
        self.assertEqual(answer.smooth([1.0, 5.0, 3.0], 0.0), [1.0, 5.0, 3.0])

    def test_a_nan_is_shown_and_spoils_nothing(self):
        smoothed = answer.smooth([2.0, float("nan"), 2.0], 0.9)
        self.assertNotEqual(smoothed[1], smoothed[1], "the gap must stay visible")
        self.assertAlmostEqual(smoothed[2], 2.0)

    def test_nothing_gives_nothing(self):
        self.assertEqual(answer.smooth([], 0.9), [])


unittest.main()
