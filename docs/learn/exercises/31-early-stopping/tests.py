"""Tests of exercise 31."""
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


class Stopping(unittest.TestCase):
    def told(self, losses, patience=2, least_gain=0.0):
        stopping = answer.EarlyStopping(patience, least_gain)
        return stopping, [stopping.tell(loss, [float(i)]) for i, loss in enumerate(losses)]

    def test_it_goes_on_while_the_loss_falls(self):
        self.assertEqual(self.told([3, 2, 1])[1], [False, False, False])

    def test_it_waits_as_long_as_it_was_told(self):
        self.assertEqual(self.told([3, 2, 2.5, 2.4])[1], [False, False, False, True])

    def test_a_gain_starts_the_count_again(self):
        self.assertEqual(self.told([3, 3.1, 2.9, 3.0, 2.8])[1], [False] * 5)

    def test_the_best_is_kept_not_the_last(self):
        stopping, _ = self.told([3, 1, 2, 2])
        self.assertEqual((stopping.best_loss, stopping.best_weights), (1, [1.0]))

    def test_the_weights_are_a_copy(self):
        stopping, weights = answer.EarlyStopping(2), [1.0]
        stopping.tell(1.0, weights)
        weights[0] = 9.0
        self.assertEqual(stopping.best_weights, [1.0])

    def test_a_gain_that_is_too_small_is_none(self):
        self.assertEqual(self.told([1.0, 0.999, 0.998], least_gain=0.01)[1], [False, False, True])

    def test_slow_progress_adds_up(self):
        self.assertEqual(self.told([1.0, 0.994, 0.988], least_gain=0.01)[1], [False, False, False])

    def test_a_nan_is_never_the_best(self):
        stopping, stops = self.told([float("nan"), 2.0, float("nan"), float("nan")])
        self.assertEqual((stopping.best_loss, stops), (2.0, [False, False, False, True]))

    def test_before_the_first_word_there_is_no_best(self):
        stopping = answer.EarlyStopping(1)
        self.assertIsNone(stopping.best_loss)
        self.assertIsNone(stopping.best_weights)


unittest.main()
