// Overfit one batch: a sound model can memorise a few samples; one that cannot is broken, and this says where.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "osler/run/experiment.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// How the test runs.
struct OverfitOptions {
  std::size_t steps = 500;  ///< of every attempt, on the same batch
  /// The loss that counts as memorised. By itself the test takes what lies 5 % of the way from the lowest loss that any
  /// output could have to the first loss.
  std::optional<double> target = {};
  /// How many times as many steps the training as it is may take while its loss still falls: slow is not broken.
  std::size_t patience = 4;
};

/// Trains on one batch until it is memorised (probe "overfit-one-batch"). When it is not, further attempts, each with
/// one thing changed, find out why; then the one failed check is the reason: inputs, labels, loss, frozen, gradient,
/// dead-units, mode, dropout, learning-rate-too-low, learning-rate-too-high, optimizer, or capacity when nothing
/// helped. Values: first-loss, last-loss, floor (the lowest loss any output could have), target, steps. Columns: step,
/// loss.
[[nodiscard]] Experiment overfit_one_batch(const Training& training, const OverfitOptions& options = {},
                                           const Limits& limits = {});

/// The reason why a batch was not memorised; nothing when it was, or when the test has no answer.
[[nodiscard]] std::optional<std::string> overfit_failure(const Experiment& experiment);

}  // namespace osler::torch
