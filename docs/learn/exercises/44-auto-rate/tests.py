"""Tests of exercise 44."""
import importlib.util
import math
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


class Rates(unittest.TestCase):
    def test_while_there_are_gains_nothing_changes(self):
        auto = answer.AutoRate(0.1)
        for loss in (4.0, 3.0, 2.0):
            weights = [loss]
            self.assertEqual(auto.tell(loss, weights), (0.1, weights))

    def test_after_an_explosion_it_goes_on_from_the_best_at_half_the_rate(self):
        auto = answer.AutoRate(0.1)
        auto.tell(2.0, [1.0])
        rate, weights = auto.tell(6.5, [9.0])
        self.assertAlmostEqual(rate, 0.05)
        self.assertEqual(weights, [1.0])

    def test_a_nan_is_an_explosion(self):
        auto = answer.AutoRate(0.1)
        auto.tell(2.0, [1.0])
        self.assertEqual(auto.tell(math.nan, [math.nan])[1], [1.0])
        self.assertEqual(auto.tell(math.inf, [math.nan])[1], [1.0])

    def test_a_rise_that_is_no_explosion_is_borne(self):
        auto = answer.AutoRate(0.1)
        auto.tell(2.0, [1.0])
        self.assertEqual(auto.tell(5.9, [2.0]), (0.1, [2.0]))

    def test_what_it_keeps_and_gives_back_are_copies(self):
        auto = answer.AutoRate(0.1)
        weights = [1.0]
        auto.tell(2.0, weights)
        weights[0] = 7.0
        given = auto.tell(math.nan, weights)[1]
        self.assertEqual(given, [1.0])
        given[0] = 8.0
        self.assertEqual(auto.tell(math.nan, given)[1], [1.0])

    def test_on_a_plateau_it_goes_faster(self):
        auto = answer.AutoRate(0.1, patience=3)
        auto.tell(2.0, [1.0])
        rates = [auto.tell(2.0, [1.0])[0] for _ in range(6)]
        for rate, expected in zip(rates, (0.1, 0.1, 0.15, 0.15, 0.15, 0.225)):
            self.assertAlmostEqual(rate, expected)

    def test_too_small_a_gain_is_none(self):
        auto = answer.AutoRate(0.1, patience=2, least_gain=0.1)
        auto.tell(2.0, [1.0])
        auto.tell(1.95, [1.0])
        self.assertAlmostEqual(auto.tell(1.9, [1.0])[0], 0.15)

    def test_a_rate_that_exploded_is_never_reached_again(self):
        auto = answer.AutoRate(0.1, patience=1)
        auto.tell(2.0, [1.0])
        auto.tell(9.0, [1.0])
        for _ in range(50):
            self.assertLess(auto.tell(2.0, [1.0])[0], 0.1)

    def test_nor_is_the_highest(self):
        auto = answer.AutoRate(0.1, highest=0.2, patience=1)
        auto.tell(2.0, [1.0])
        for _ in range(20):
            self.assertLess(auto.tell(2.0, [1.0])[0], 0.2)

    def test_an_explosion_at_the_very_first_loss_has_no_best_to_go_back_to(self):
        rate, weights = answer.AutoRate(0.1).tell(math.nan, [3.0])
        self.assertAlmostEqual(rate, 0.05)
        self.assertEqual(weights, [3.0])

    def test_it_trains_a_steep_valley_from_any_rate(self):
        for start in (1e-4, 1.0, 500.0):
            auto, weights, rate = answer.AutoRate(start, highest=1000.0, patience=5), [3.0], start
            for _ in range(400):
                loss = 1e-3 + 50.0 * weights[0] ** 2  # beyond a rate of 0.02 it diverges
                rate, weights = auto.tell(loss, weights)
                weights = [w - rate * 100.0 * w for w in weights]
            self.assertLess(abs(weights[0]), 0.1, start)


unittest.main()
