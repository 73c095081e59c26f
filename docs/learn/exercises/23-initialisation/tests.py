"""Tests of exercise 23."""
import random
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


def drawn(units, fan_in, spread, mean=0.0):
    rng = random.Random(7)
    return [[rng.gauss(mean, spread) for _ in range(fan_in)] for _ in range(units)]


class Initialisation(unittest.TestCase):
    def test_he_is_sound_for_relu(self):
        self.assertEqual(answer.check_initialisation(drawn(32, 128, (2 / 128) ** 0.5)), [])

    def test_lecun_is_sound_for_tanh(self):
        self.assertEqual(answer.check_initialisation(drawn(32, 128, (1 / 128) ** 0.5), "tanh"), [])

    def test_a_deviation_of_one_is_large_for_a_wide_layer(self):
        self.assertEqual(answer.check_initialisation(drawn(32, 512, 1.0)), ["large"])

    def test_a_thousandth_is_small(self):
        self.assertEqual(answer.check_initialisation(drawn(32, 16, 0.001)), ["small"])

    def test_zeros(self):
        self.assertEqual(answer.check_initialisation([[0.0] * 8] * 4), ["zero"])

    def test_units_that_are_all_the_same_never_part(self):
        self.assertEqual(answer.check_initialisation([[0.5, -0.5, 0.5, -0.5]] * 8), ["equal"])

    def test_one_unit_is_no_twin(self):
        self.assertNotIn("equal", answer.check_initialisation([[0.9, -0.8]]))

    def test_a_mean_beside_zero(self):
        self.assertIn("biased", answer.check_initialisation(drawn(32, 64, 0.17, mean=0.15)))

    def test_a_nan_ends_the_search(self):
        self.assertEqual(answer.check_initialisation([[float("nan"), 0.0], [0.0, 0.0]]), ["not finite"])


unittest.main()
