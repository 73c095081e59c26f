// When a batch counts as memorised, and whether a training that has not got there is merely slow.
#pragma once

#include <cstddef>
#include <span>

#include "osler/run/experiment.h"

namespace osler::probes {

/// What an attempt aims at.
struct MemoryGoal {
  double first = 0;   ///< the loss at the start
  double floor = 0;   ///< the lowest loss that any output could have
  double target = 0;  ///< the loss that counts as memorised

  /// The target by itself: 5 % of the way from the floor to the first loss, or to the loss of outputs that say nothing
  /// (`blank`) where that is lower: from a first loss far above chance everything looks learned.
  [[nodiscard]] static MemoryGoal towards(double first, double floor, double blank);
  /// The newest losses are all low enough: dropout has lucky steps.
  [[nodiscard]] bool reached(std::span<const double> losses) const;
  /// The newest losses are so near to it that nothing can be broken.
  [[nodiscard]] bool nearly_reached(std::span<const double> losses) const;
  /// Within the newest `steps` steps the loss has come a good part of the way further.
  [[nodiscard]] bool still_falls(std::span<const double> losses, std::size_t steps) const;
  /// The loss went up or became wild rather than down slowly.
  [[nodiscard]] bool went_wild(std::span<const double> losses) const;
  /// Writes first-loss, last-loss, floor, target, steps and the losses.
  void write(std::span<const double> losses, Experiment& experiment) const;
};

/// How low outputs of their own, without a model, brought a loss: whether it falls faster and faster instead of coming
/// to a minimum.
[[nodiscard]] bool falls_without_end(std::span<const double> losses);
/// The same of a loss that began at `start` and came down to `lowest`: so far below zero that nothing bounds it.
[[nodiscard]] bool falls_without_end(double start, double lowest);

}  // namespace osler::probes
