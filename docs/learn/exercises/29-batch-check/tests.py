"""Tests of exercise 29."""
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


class Look(unittest.TestCase):
    def setUp(self):
        self.check = answer.BatchCheck(classes=3)

    def test_a_sound_batch(self):
        self.assertEqual(self.check.look([[0.1, -0.4], [1.2, 0.3]], [0, 2]), [])

    def test_nothing_at_all(self):
        self.assertEqual(self.check.look([], []), ["empty"])

    def test_pairs_that_do_not_match(self):
        self.assertEqual(self.check.look([[1.0], [2.0]], [0]), ["lengths differ"])

    def test_a_nan_and_an_infinity(self):
        self.assertEqual(self.check.look([[1.0, float("nan")], [2.0, 0.0]], [0, 1]), ["not finite"])
        self.assertEqual(self.check.look([[1.0, float("-inf")], [2.0, 0.0]], [0, 1]), ["not finite"])

    def test_pixels_that_nobody_scaled(self):
        self.assertEqual(self.check.look([[0.0, 255.0], [3.0, 9.0]], [0, 1]), ["extreme"])

    def test_a_label_that_no_class_has(self):
        self.assertEqual(self.check.look([[1.0], [2.0]], [1, 3]), ["label out of range"], "three classes are 0, 1, 2")
        self.assertEqual(self.check.look([[1.0], [2.5]], [-1, 2]), ["label out of range"])

    def test_sorted_data(self):
        self.assertEqual(self.check.look([[1.0], [2.0], [3.0], [4.0]], [1, 1, 1, 1]), ["one class"])
        self.assertEqual(self.check.look([[1.0], [2.0]], [1, 1]), [], "two of a kind are chance")

    def test_a_loader_that_gives_one_sample_again_and_again(self):
        self.assertEqual(self.check.look([[1.0], [1.0], [1.0]], [0, 1, 2]), ["one sample"])

    def test_the_same_batch_twice(self):
        batch = ([[1.0], [2.0]], [0, 1])
        self.assertEqual(self.check.look(*batch), [])
        self.assertEqual(self.check.look(*batch), ["repeated"])
        self.assertEqual(self.check.look([[1.0], [2.5]], [0, 1]), [])

    def test_several_things_at_once_come_in_order(self):
        self.assertEqual(self.check.look([[float("nan")], [1e9]], [0, 7]), ["not finite", "extreme", "label out of range"])


unittest.main()
