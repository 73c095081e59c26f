"""Tests of exercise 41."""
import importlib.util
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("answer", sys.argv.pop(1))
answer = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answer)


class Debugging(unittest.TestCase):
    def test_an_ordinary_step_may_go_on(self):
        debugger, gradients = answer.Debugger(), [[0.3, 0.4]]
        self.assertTrue(debugger.step(0, 1.0, gradients, 0.1))
        self.assertEqual(gradients, [[0.3, 0.4]])

    def test_a_large_gradient_is_clipped(self):
        debugger, gradients = answer.Debugger(max_norm=1.0), [[3.0, 4.0]]
        self.assertTrue(debugger.step(0, 1.0, gradients, 0.1))
        self.assertAlmostEqual(gradients[0][0], 0.6)

    def test_a_nan_is_refused_and_remembered(self):
        debugger = answer.Debugger()
        self.assertTrue(debugger.step(0, 1.0, [[0.1]], 0.1))
        self.assertFalse(debugger.step(1, float("nan"), [[0.1]], 0.1))
        gradients = [[float("inf")], [1.0]]
        self.assertFalse(debugger.step(2, 1.0, gradients, 0.1))
        self.assertEqual(gradients[1], [1.0])
        summary = debugger.summary()
        self.assertEqual((summary["steps"], summary["skipped"], summary["first_bad"]), (3, 2, 1))

    def test_the_line_comes_when_it_should(self):
        debugger = answer.Debugger(every=2)
        debugger.step(0, 0.5, [[0.6]], 0.001)
        self.assertEqual(debugger.line(), "step 0  loss 0.5000  norm 0.6  clipped 0%  lr 0.001")
        debugger.step(1, 0.5, [[0.6]], 0.001)
        self.assertIsNone(debugger.line())

    def test_the_line_tells_the_trend_and_the_clipping(self):
        debugger = answer.Debugger(max_norm=1.0, every=3)
        for step, loss in enumerate((4.0, 3.0, 2.0)):
            debugger.step(step, loss, [[0.5]], 0.01)
        debugger.step(3, 1.0, [[30.0, 40.0]], 0.01)
        self.assertEqual(debugger.line(), "step 3  loss 1.0000  trend -2.0000  norm 50.0 [clipped]  clipped 25%  lr 0.01")

    def test_the_trend_forgets_what_is_older_than_the_window(self):
        debugger = answer.Debugger(every=1, window=4)
        for step, loss in enumerate((100.0, 1.0, 1.0, 1.0, 1.0)):
            debugger.step(step, loss, [[0.1]], 0.1)
        self.assertIn("trend +0.0000", debugger.line())

    def test_the_summary(self):
        debugger = answer.Debugger(max_norm=1.0)
        self.assertEqual(debugger.summary(),
                         {"steps": 0, "skipped": 0, "clipped": 0.0, "worst_norm": None, "first_bad": None})
        debugger.step(0, 1.0, [[0.5]], 0.1)
        debugger.step(1, 1.0, [[8.0]], 0.1)
        self.assertEqual(debugger.summary(),
                         {"steps": 2, "skipped": 0, "clipped": 0.5, "worst_norm": 8.0, "first_bad": None})


unittest.main()
