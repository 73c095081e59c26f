// Turning clearness into confidence.
#include "diagnosis/calibration.h"

#include <algorithm>
#include <cmath>

namespace osler {
namespace {

constexpr double kLeast = 1e-4;  // keeps the log-odds finite

double log_odds(double probability) {
  const double p = std::clamp(probability, kLeast, 1 - kLeast);
  return std::log(p / (1 - p));
}

double probability_of(double odds) {
  return 1 / (1 + std::exp(-odds));
}

const CalibrationRow& row_of(std::string_view finding) {
  const std::span<const CalibrationRow> rows = calibration_table();
  const auto own =
      std::find_if(rows.begin(), rows.end(), [&](const CalibrationRow& row) { return row.finding == finding; });
  return own == rows.end() ? rows.front() : *own;
}

}  // namespace

double calibrated(std::string_view finding, double clearness) {
  const CalibrationRow& row = row_of(finding);
  return probability_of(row.intercept + row.slope * log_odds(clearness));
}

double clearness_of(std::string_view finding, double confidence) {
  const CalibrationRow& row = row_of(finding);
  return probability_of((log_odds(confidence) - row.intercept) / row.slope);
}

}  // namespace osler
