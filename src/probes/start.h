// How the weights of a model start: measured by He's and Xavier's rule.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "osler/run/experiment.h"

namespace osler::probes {

/// One parameter before training, as far as it was measured.
struct WeightStart {
  std::string name;
  double size = 0;     ///< root mean square
  double largest = 0;  ///< absolute value
  /// Squared distances of rows from their mean over all squares: 0 when all rows are equal, NaN for a single row.
  double rows = std::numeric_limits<double>::quiet_NaN();
  std::int64_t units = 0;  ///< rows
  double inputs = 0;
  double outputs = 0;
  bool recurrent = false;
  bool embedding = false;
  bool vector = false;  ///< a bias or the scale of a normalisation
};

/// Writes checks, values, columns, outcome and verdict.
void write_starts(std::span<const WeightStart> starts, Experiment& experiment);

/// Counts the checks of a list and says what failed.
void conclude_checkup(Experiment& experiment);

}  // namespace osler::probes
