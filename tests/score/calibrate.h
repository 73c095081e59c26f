// Calibrates confidences on scored runs: logistic regression per finding, cross-validated by family.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "score/subject.h"
#include "score/tally.h"

namespace osler::score {

/// A straight line between log-odds.
struct Line {
  double intercept = 0;
  double slope = 1;
};

/// The lines fitted to a set of outcomes.
struct Calibration {
  struct Row {
    Line line;
    std::size_t seen = 0;
    std::size_t untrue = 0;
  };
  Row pooled;                       ///< over all findings
  std::map<std::string, Row> rows;  ///< findings with enough warnings to have their own
};

/// Fits the lines to the warnings on decided runs, never to those of a population's left-out part. Real logs count more
/// than simulated ones, of which any number can be made.
[[nodiscard]] Calibration calibrate(const std::vector<const Outcome*>& outcomes);

/// The reliability of confidences that were fitted to the other families only: the families are dealt into `folds`.
[[nodiscard]] std::vector<ReliabilityBin> cross_validated(const std::vector<const Outcome*>& outcomes,
                                                          std::size_t folds);

/// The file src/diagnosis/calibration_table.cpp.
[[nodiscard]] std::string calibration_source(const Calibration& calibration);

/// FNV-1a, so that a family lies in the same fold on every platform.
[[nodiscard]] std::size_t stable_hash(const std::string& text);

}  // namespace osler::score
