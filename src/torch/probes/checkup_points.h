// The points of the checkup: one function and one line of a table each.
#pragma once

#include <string>
#include <vector>

#include "osler/torch/checkup.h"
#include "torch/probes/probe.h"

namespace osler::torch {

/// What a point says.
struct PointResult {
  Experiment::Outcome outcome = Experiment::Outcome::passed;
  std::string text;
};

[[nodiscard]] PointResult good(std::string text);
[[nodiscard]] PointResult bad(std::string text);
[[nodiscard]] PointResult not_checked(std::string text);

/// A training under examination. Before every point it is as it was, but in training mode.
struct Examined {
  const Training& training;
  const CheckupOptions& options;
  Preserved& preserved;
  const Clock& clock;
  bool was_training = true;  ///< the mode in which the checkup found the model
  std::vector<Batch> batches;
  std::vector<Batch> validation;  ///< empty when the training has none

  /// The training as it was, in training mode.
  void afresh() const {
    preserved.restore();
    switch_to_training(training.model);
  }
};

struct CheckupPoint {
  const char* id;
  PointResult (*look)(Examined& examined);
};

/// Points about the data and what surrounds the model.
[[nodiscard]] const std::vector<CheckupPoint>& data_points();
/// Points about the model and its loss.
[[nodiscard]] const std::vector<CheckupPoint>& model_points();

}  // namespace osler::torch
