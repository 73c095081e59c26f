// Epochs: which rows of a loss curve belong to which epoch.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/patient.h"
#include "diagnosis/rates.h"

namespace osler {

/// Rows `first` up to but not including `last` of a curve.
struct EpochRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The whole epochs of a curve, in order and without gaps.
struct Epochs {
  std::vector<EpochRange> ranges;
  std::string from;  ///< "epoch series" or "validations"
};

/// The series that counts the epochs of a log whose axis is something else, or nullptr.
[[nodiscard]] const Series* epoch_series(const Patient& patient);

/// The epochs of `curve` with at least `fewest_rows` rows each: the longest unbroken stretch of such. Boundaries come
/// from a series of epochs, else from evaluations at regular distances.
[[nodiscard]] Epochs epochs_of(const Patient& patient, const signal::Curve& curve, std::size_t fewest_rows);

/// The learning rate rises at most of the boundaries.
[[nodiscard]] bool rises_at_boundaries(const RateCurve& rate, const signal::Curve& curve, const Epochs& epochs);

}  // namespace osler
