"""Tests of exercise 40."""
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


class Keeping(unittest.TestCase):
    def setUp(self):
        self.history = answer.History()

    def test_what_was_told_comes_back(self):
        self.history.add(0, loss=2.0, lr=0.1)
        self.history.add(1, loss=1.5)
        self.assertEqual(self.history.series("loss"), [(0, 2.0), (1, 1.5)])
        self.assertEqual(self.history.series("lr"), [(0, 0.1)])
        self.assertEqual(self.history.series("never"), [])

    def test_the_best_is_finite_and_the_first_of_equals(self):
        for step, loss in enumerate([3.0, float("nan"), 1.0, 1.0, float("-inf")]):
            self.history.add(step, loss=loss)
        self.assertEqual(self.history.best("loss"), (2, 1.0))
        self.assertIsNone(self.history.best("never"))

    def test_a_nan_is_kept(self):
        self.history.add(0, loss=float("nan"))
        self.assertEqual(len(self.history.series("loss")), 1)

    def test_a_resume_takes_back_what_it_repeats(self):
        for step in range(5):
            self.history.add(step, loss=float(step), lr=0.1)
        self.history.add(2, loss=20.0)
        self.assertEqual(self.history.series("loss"), [(0, 0.0), (1, 1.0), (2, 20.0)])
        self.assertEqual(self.history.series("lr"), [(0, 0.1), (1, 0.1)])

    def test_the_same_step_twice_is_no_resume(self):
        self.history.add(1, loss=1.0)
        self.history.add(1, lr=0.1)
        self.assertEqual(self.history.series("loss"), [(1, 1.0)])
        self.assertEqual(self.history.series("lr"), [(1, 0.1)])

    def test_csv_leaves_gaps_where_there_is_nothing(self):
        self.history.add(0, train_loss=2.0)
        self.history.add(5, train_loss=1.5, val_loss=1.75)
        self.history.add(10, val_loss=float("nan"))
        self.assertEqual(self.history.csv(), "step,train_loss,val_loss\n0,2.0,\n5,1.5,1.75\n10,,nan\n")


unittest.main()
