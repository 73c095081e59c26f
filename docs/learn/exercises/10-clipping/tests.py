"""Tests of exercise 10."""
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


class Clipping(unittest.TestCase):
    def test_the_norm_is_that_of_all_parameters_together(self):
        gradients = [[3.0], [4.0]]
        self.assertAlmostEqual(answer.clip(gradients, 100), 5.0)

    def test_small_gradients_are_left_alone(self):
        gradients = [[0.3, 0.4], [0.0]]
        answer.clip(gradients, 1.0)
        self.assertEqual(gradients, [[0.3, 0.4], [0.0]])

    def test_large_ones_are_scaled_to_the_limit(self):
        gradients = [[30.0], [40.0]]
        self.assertAlmostEqual(answer.clip(gradients, 1.0), 50.0, msg="return the norm before clipping")
        self.assertAlmostEqual(gradients[0][0], 0.6)
        self.assertAlmostEqual(gradients[1][0], 0.8)

    def test_the_direction_stays(self):
        gradients = [[10.0, 0.1]]
        answer.clip(gradients, 1.0)
        self.assertAlmostEqual(gradients[0][0] / gradients[0][1], 100.0, msg="clipping by value would turn it")

    def test_a_parameter_without_a_gradient_is_passed_over(self):
        gradients = [None, [3.0, 4.0]]
        self.assertAlmostEqual(answer.clip(gradients, 1.0), 5.0)
        self.assertIsNone(gradients[0])

    def test_what_is_not_finite_is_reported_and_left_alone(self):
        gradients = [[float("inf")], [1.0]]
        norm = answer.clip(gradients, 1.0)
        self.assertEqual(norm, float("inf"))
        self.assertEqual(gradients[1], [1.0], "1 / inf would have erased the sound gradients")

    def test_zero_gradients_divide_nothing_by_zero(self):
        self.assertEqual(answer.clip([[0.0, 0.0]], 1.0), 0.0)


unittest.main()
