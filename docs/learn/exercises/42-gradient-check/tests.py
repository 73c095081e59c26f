"""Tests of exercise 42."""
import math
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


def loss(weights):
    return weights[0] ** 3 + math.sin(weights[1]) * weights[0]


class GradientCheck(unittest.TestCase):
    def test_a_right_gradient_passes(self):
        weights = [0.7, -0.3]
        right = [3 * 0.49 + math.sin(-0.3), math.cos(-0.3) * 0.7]
        self.assertLess(answer.gradient_check(loss, weights, right), 1e-7, "one-sided differences are not exact enough")

    def test_a_wrong_entry_is_seen(self):
        self.assertGreater(answer.gradient_check(loss, [0.7, -0.3], [3 * 0.49, math.cos(-0.3) * 0.7]), 1e-2)

    def test_a_wrong_sign_is_the_largest_error_there_is(self):
        self.assertAlmostEqual(answer.gradient_check(lambda w: w[0] ** 2, [1.0], [-2.0]), 1.0, places=6)

    def test_a_factor_of_two_is_a_third(self):
        self.assertAlmostEqual(answer.gradient_check(lambda w: w[0] ** 2, [1.0], [4.0]), 1 / 3, places=6)

    def test_the_weights_stay(self):
        weights = [0.7, -0.3]
        answer.gradient_check(loss, weights, [0.0, 0.0])
        self.assertEqual(weights, [0.7, -0.3])

    def test_zero_against_zero_is_no_error(self):
        self.assertEqual(answer.gradient_check(lambda w: 3.0, [1.0, 2.0], [0.0, 0.0]), 0.0)


unittest.main()
