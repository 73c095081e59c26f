// Calibration: turns how clear a finding is to its own check into the chance that it is right.
#pragma once

#include <span>
#include <string_view>

namespace osler {

/// How the clearness of one finding, as its check states it, turns into a confidence: a straight line between log-odds,
/// fitted to labelled runs. `osler_score --calibrate` writes the table anew.
struct CalibrationRow {
  std::string_view finding;  ///< empty: for every finding without a row of its own
  double intercept = 0;
  double slope = 1;
  int seen = 0;    ///< warnings on labelled runs that the row was fitted to
  int untrue = 0;  ///< of those, not allowed by the label
};

/// All rows; the first is the one for findings without their own.
[[nodiscard]] std::span<const CalibrationRow> calibration_table();

/// The confidence (0 to 1) of a finding that its check found with this clearness (0 to 1).
[[nodiscard]] double calibrated(std::string_view finding, double clearness);
/// The clearness behind a confidence: undoes calibrated().
[[nodiscard]] double clearness_of(std::string_view finding, double confidence);

}  // namespace osler
