// fresh_start(): whether the training would have gone well at another learning rate, tried from the beginning.
#pragma once

#include <cstddef>

#include "osler/run/experiment.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// How the test runs.
struct FreshStartOptions {
  std::size_t steps = 150;  ///< of each of the short trainings
  double largest = 1e4;     ///< the largest multiple of the rate that is tried while lower ones learn nothing
};

/// Trains several times from fresh weights for a few steps (probe "fresh-start"): at a tenth of the optimizer's
/// learning rate, at the rate itself, at ten times and, as long as higher is better, at higher multiples; and, where
/// there are any, without weight decay and dropout. What weights were driven into by a rate that is too high (dead or
/// saturated units, huge weights) hides the reason from every test that begins with them; a fresh start shows it.
/// Passes when nothing else gets clearly further; fails when something does; undecided when nothing learns anything.
///
/// Values: rate; now, the loss that the training has come to; first-loss; loss-tenth, loss-present, loss-10-times and
/// so on, loss-unregularised (each over the last fifth of the steps, with the interval of its noise; infinite when it
/// broke); best-factor, of the rate; overtakes: 1 when the best of them is below `now`; regularisation-hinders.
/// Columns: step and the losses under the same names.
[[nodiscard]] Experiment fresh_start(const Training& training, const FreshStartOptions& options = {},
                                     const Limits& limits = {});

}  // namespace osler::torch
