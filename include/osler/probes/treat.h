// Treating a training by machine: the report's own remedies, tried in short forks from the same start.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "osler/diagnosis/report.h"

namespace osler::probes {

/// Settings to change, in the order in which they were found to help.
using Changes = std::vector<Remedy::Change>;

/// What came of training for a while with some changes.
struct Fork {
  double loss = std::numeric_limits<double>::quiet_NaN();  ///< the smaller the better; on held-out data if there is any
  Report report;
};

/// How to train from the same start, with the same random numbers, under other settings.
struct Forks {
  /// Whether this training can be changed so, by the change's name and new value.
  std::function<bool(const Remedy::Change& change)> can_apply;
  /// Builds the training anew with the changes, trains it for a while, and says what came of it. A training that
  /// cannot be finished gives a loss that is not a number.
  std::function<Fork(const Changes& changes)> run;
};

/// How much is tried.
struct TreatOptions {
  std::size_t causes = 3;     ///< of the report, the most probable first
  std::size_t trials = 10;    ///< forks at most, beside the first one without a change
  double improvement = 0.05;  ///< the share by which the loss must fall to count as better
};

/// One remedy and what it did.
struct Trial {
  std::string cause;
  std::string remedy;
  Remedy::Change change;
  double before = 0;  ///< the loss with what was kept so far
  double after = 0;   ///< the loss with this change too
  bool kept = false;
  std::string why;  ///< why it was kept or not, in a clause
};

/// What was done, and what could not be done.
struct Cure {
  double untreated = 0;  ///< the loss of the fork without a change
  double treated = 0;    ///< the loss of the fork with what was kept
  Changes kept;
  std::vector<Trial> trials;
  std::vector<std::string> for_a_person;  ///< remedies of these causes that no machine can apply here
};

/// Tries the remedies of a report's first causes one by one, on top of those that helped, and keeps what measurably
/// helps: the loss falls, or the loss is no worse and a finding is gone, the one the report leads with or one that
/// speaks for the cause.
[[nodiscard]] Cure treat(const Report& report, const Forks& forks, const TreatOptions& options = {});

}  // namespace osler::probes
