// The learning rate range test: which learning rate a training can take (Smith 2017).
#pragma once

#include <cstddef>

#include "osler/run/experiment.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// How a range test runs.
struct LrRangeOptions {
  double start = 1e-7;
  double end = 10;
  std::size_t steps = 100;  ///< rates tried, one optimizer step each
  bool linear = false;      ///< rates evenly spaced; otherwise their logarithms are
  std::size_t repeats = 3;  ///< passes from the same start over different batches; 1 leaves the interval to the methods
  std::size_t accumulate = 1;  ///< batches whose gradients make one step
  double smoothing = 0.25;     ///< weight of the newest loss in the moving average, above 0 and at most 1
  double divergence = 4;       ///< a pass ends when the smoothed loss is this many times its start, or its dip above it
};

/// Raises the learning rate step by step and suggests one from where the loss falls (probe "lr-range-test").
///
/// Works with every optimizer of LibTorch. With several parameter groups the rates are those of the group with the
/// largest one, and the others keep their ratio to it. The outcome is `passed` when the present rate is within a factor
/// of ten of the suggestion, `failed` when it is not, and `undecided`, with the reason, when the curve does not support
/// a suggestion.
/// Values: suggestion (with its interval), steepest, valley, minimum-tenth, sliding-slope, divergence, present.
/// Columns: learning-rate, loss, smoothed. A check "batches" fails when the batches drawn do not represent the classes.
[[nodiscard]] Experiment lr_range_test(const Training& training, const LrRangeOptions& options = {},
                                       const Limits& limits = {});

}  // namespace osler::torch
