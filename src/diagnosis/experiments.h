// What experiments say of causes: one table for all of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "osler/diagnosis/catalogue.h"
#include "osler/run/experiment.h"

namespace osler {

/// One row: when an experiment came out so, the odds of a cause move so far.
struct ExperimentRow {
  std::string_view probe;
  bool (*says)(const Experiment& experiment, std::string_view detail);  ///< whether the row applies
  std::string_view detail;                                              ///< what `says` looks for, where it needs it
  std::string_view cause;
  double weight = 0;  ///< log-odds; negative speaks against
  std::string_view words;
};

[[nodiscard]] std::span<const ExperimentRow> experiment_rows();

/// What a run's experiments say of one cause.
[[nodiscard]] std::vector<Clue> experiment_clues(const std::vector<Experiment>& experiments, std::string_view cause);

}  // namespace osler
