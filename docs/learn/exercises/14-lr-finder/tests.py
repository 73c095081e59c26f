"""Tests of exercise 14."""
import math
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


def valley(start, rate_of_fall, explodes_at):
    """A training of one weight w on w squared: it falls when the rate is large enough and explodes beyond 1."""
    state = {"w": start}

    def step(rate):
        loss = state["w"] ** 2 + 0.01
        state["w"] -= rate * rate_of_fall * 2 * state["w"]
        if rate > explodes_at:
            state["w"] *= 10
        return loss

    return step


class RangeTest(unittest.TestCase):
    def test_rates_grow_by_a_constant_factor(self):
        curve = answer.range_test(lambda rate: 1.0, 1e-4, 1.0, 5)
        self.assertEqual(len(curve), 5)
        for (rate, _), expected in zip(curve, (1e-4, 1e-3, 1e-2, 1e-1, 1.0)):
            self.assertAlmostEqual(rate / expected, 1.0)

    def test_it_ends_when_the_loss_blows_up(self):
        curve = answer.range_test(valley(2.0, 1.0, 0.5), steps=200)
        self.assertLess(len(curve), 200)
        self.assertLess(curve[-1][0], 10.0)

    def test_it_ends_at_a_nan_and_leaves_it_out(self):
        losses = iter([1.0, 0.9, float("nan"), 0.5])
        self.assertEqual([loss for _, loss in answer.range_test(lambda rate: next(losses), steps=4)], [1.0, 0.9])


class Suggestion(unittest.TestCase):
    def test_it_lies_where_the_loss_falls_and_below_where_it_explodes(self):
        curve = answer.range_test(valley(2.0, 1.0, 0.5), steps=200)
        rate = answer.suggest(curve)
        self.assertGreater(rate, 1e-4)
        self.assertLess(rate, 0.5)

    def test_a_flat_curve_gets_a_refusal(self):
        self.assertIsNone(answer.suggest([(10.0 ** (i / 10 - 6), 2.3) for i in range(50)]))

    def test_a_curve_that_only_climbs_gets_a_refusal(self):
        self.assertIsNone(answer.suggest([(10.0 ** (i / 10 - 6), 2.3 + i) for i in range(50)]))

    def test_too_few_points_get_a_refusal(self):
        self.assertIsNone(answer.suggest([(1e-3, 2.0), (1e-2, 1.0)]))

    def test_the_steepest_place_is_found(self):
        curve = [(10.0 ** (i / 10 - 6), 2.0 - math.tanh(i - 30)) for i in range(50)]
        self.assertLess(abs(math.log10(answer.suggest(curve, beta=0.0)) + 3.0), 0.15)


unittest.main()
