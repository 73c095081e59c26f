"""Tests of exercise 20."""
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


def two_valleys(weights):
    """The gradient of min(50 (w + 1)^2, (w - 2)^2 / 2 + 0.001): a sharp valley at -1 and a flat one at 2."""
    w = weights[0]
    sharp, flat = 50 * (w + 1) ** 2, (w - 2) ** 2 / 2 + 0.001
    return [100 * (w + 1) if sharp < flat else w - 2]


class Sam(unittest.TestCase):
    def test_without_a_radius_it_is_gradient_descent(self):
        self.assertEqual(answer.sam_step([1.0], lambda w: [2 * w[0]], 0.1, 0.0), [0.8])

    def test_the_gradient_is_taken_uphill_and_the_step_from_below(self):
        self.assertAlmostEqual(answer.sam_step([1.0], lambda w: [2 * w[0]], 0.1, 0.5)[0], 1.0 - 0.1 * 3.0)

    def test_the_climb_has_the_length_of_the_radius_whatever_the_gradient(self):
        seen = []
        answer.sam_step([0.0, 0.0], lambda w: seen.append(list(w)) or [30.0, 40.0], 0.1, 0.5)
        self.assertAlmostEqual(seen[1][0], 0.3)
        self.assertAlmostEqual(seen[1][1], 0.4)

    def test_a_gradient_of_zero_moves_nothing(self):
        self.assertEqual(answer.sam_step([3.0], lambda w: [0.0], 0.1, 0.5), [3.0])

    def test_the_weights_given_are_not_changed(self):
        weights = [1.0]
        answer.sam_step(weights, lambda w: [2 * w[0]], 0.1, 0.5)
        self.assertEqual(weights, [1.0])

    def test_it_leaves_the_sharp_valley_where_plain_descent_stays(self):
        plain, aware = [-0.95], [-0.95]
        for _ in range(400):
            plain = answer.sam_step(plain, two_valleys, 0.005, 0.0)
            aware = answer.sam_step(aware, two_valleys, 0.005, 0.6)
        self.assertAlmostEqual(plain[0], -1.0, places=3)
        self.assertGreater(aware[0], -0.9, "at the bottom of the sharp valley the wall is within the radius")


unittest.main()
