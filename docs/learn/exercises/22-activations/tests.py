"""Tests of exercise 22."""
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


class Monitor(unittest.TestCase):
    def test_before_the_first_batch_nothing_is_wrong(self):
        monitor = answer.ActivationMonitor(3)
        self.assertEqual((monitor.dead_share(), monitor.saturated_share(), monitor.problems()), (0.0, 0.0, []))

    def test_a_healthy_layer(self):
        monitor = answer.ActivationMonitor(2)
        monitor.add([[0.0, 1.5], [0.7, 0.0]])
        self.assertEqual(monitor.problems(), [])

    def test_a_unit_is_dead_only_if_no_sample_wakes_it(self):
        monitor = answer.ActivationMonitor(4)
        monitor.add([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 2.0]])
        self.assertEqual(monitor.dead_share(), 0.75)
        self.assertEqual(monitor.problems(), ["dead"])
        monitor.add([[0.0, 0.4, 0.0, 1.0], [0.3, 0.0, 0.0, 1.0]])
        self.assertEqual(monitor.dead_share(), 0.25, "a later batch woke two of them")
        self.assertEqual(monitor.problems(), [])

    def test_many_zeros_are_not_dead_units(self):
        monitor = answer.ActivationMonitor(3)
        monitor.add([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        self.assertEqual(monitor.dead_share(), 0.0)

    def test_saturation_is_counted_at_both_ends(self):
        monitor = answer.ActivationMonitor(2, low=-1.0, high=1.0)
        monitor.add([[0.999, -0.999], [0.1, -0.2]])
        self.assertEqual(monitor.saturated_share(), 0.5)
        self.assertEqual(monitor.problems(), ["saturated"])

    def test_without_ends_there_is_no_saturation(self):
        monitor = answer.ActivationMonitor(1)
        monitor.add([[1.0], [0.5]])
        self.assertEqual(monitor.saturated_share(), 0.0)

    def test_a_layer_that_says_the_same_of_every_sample(self):
        monitor = answer.ActivationMonitor(2)
        monitor.add([[0.7, 0.7], [0.7, 0.7]])
        self.assertEqual(monitor.problems(), ["constant"])

    def test_an_exploding_layer(self):
        monitor = answer.ActivationMonitor(2)
        monitor.add([[1.0, -2000.0]])
        self.assertEqual(monitor.problems(), ["exploding"])

    def test_the_spread_is_right_far_from_zero(self):
        monitor = answer.ActivationMonitor(1)
        for value in (1e8, 1e8 + 1, 1e8 + 2):
            monitor.add([[value]])
        self.assertNotIn("constant", monitor.problems(), "a sum of squares loses these digits: use Welford's update")


unittest.main()
