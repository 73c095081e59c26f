// The learning rate range test for a training loop of any kind; osler/torch/lr_range.h has the one for LibTorch.
#pragma once

#include <cstddef>
#include <functional>

#include "osler/base/result.h"
#include "osler/run/experiment.h"

namespace osler::probes {

/// A training as the test needs it.
struct RangeTraining {
  /// Trains one step on the next batch at this rate; returns the loss before the step.
  std::function<double(double rate)> step;
  /// Puts weights and optimizer back to what they were when the test began; must not throw. The batches go on.
  std::function<void()> restore;
  double present = 0;  ///< the rate that is used now; 0: not told
};

/// How the test runs.
struct RangeTestOptions {
  double start = 1e-7;
  double end = 10;
  std::size_t steps = 100;  ///< rates tried, one step each; at least 20
  bool linear = false;      ///< rates evenly spaced; otherwise their logarithms are
  std::size_t repeats = 3;  ///< passes from the same start over different batches; 1 leaves the interval to the methods
  double smoothing = 0.25;  ///< weight of the newest loss in the moving average, above 0 and at most 1
  double divergence = 4;    ///< a pass ends when the smoothed loss is this many times its start, or its dip above it
};

/// Raises the learning rate step by step and suggests one from where the loss falls (probe "lr-range-test"), with the
/// outcomes, values and columns of osler::torch::lr_range_test. `restore` is called after every pass, also when `step`
/// throws. An error says which option means nothing.
///
///     const auto found = osler::probes::lr_range_test({.step = [&](double rate) { return train_once(rate); },
///                                                      .restore = [&] { weights = saved; }});
[[nodiscard]] Result<Experiment> lr_range_test(const RangeTraining& training, const RangeTestOptions& options = {});

}  // namespace osler::probes
