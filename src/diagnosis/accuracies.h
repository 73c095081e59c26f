// Accuracies: losses beside the accuracies measured on the same data.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "diagnosis/patient.h"

namespace osler {

/// A loss and an accuracy of the same split.
struct LossAndAccuracy {
  const Reading* loss = nullptr;
  const Reading* accuracy = nullptr;  ///< negated, as every reading that should rise
  double unit = 1;                    ///< 100 when the log writes per cent
  std::string_view split;             ///< "training" or "validation"

  /// An accuracy of the reading as a share between 0 and 1.
  [[nodiscard]] double share(double value) const { return accuracy->shown(value) / unit; }
  /// The best accuracy as a share, by the smoothed curve.
  [[nodiscard]] double best() const { return share(accuracy->best); }
};

/// The pairs that a run has, validation first.
[[nodiscard]] std::vector<LossAndAccuracy> losses_with_accuracy(const Patient& patient);

/// The classes among which training ended up guessing: its loss came down to ln C or a little below, as labels are
/// learned by heart, and its own accuracy is that of guessing among as many.
[[nodiscard]] std::optional<int> training_guesses(const Patient& patient);

}  // namespace osler
