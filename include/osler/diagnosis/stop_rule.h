// StopRule: when a finding is certain enough to end a training for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "osler/diagnosis/report.h"
#include "osler/run/run.h"

namespace osler {

/// What must hold before a training is ended.
struct StopRule {
  Severity level = Severity::critical;
  double confidence = 0.9;  ///< of the finding, at least; that values are not finite is certain once they are not
  double lasting_confidence = 0.8;  ///< at least, of a finding that lasts (points_to_last)
  std::uint64_t points = 30;        ///< of the objective, at least
};

/// Why a training is to be ended.
struct StopReason {
  Observation finding;
  std::string objective;           ///< the series whose points were counted
  std::uint64_t first_points = 0;  ///< how many it had when the finding was first certain
  std::uint64_t points = 0;        ///< and how many at the look that confirmed it
};

/// The evidence in one line.
[[nodiscard]] std::string to_line(const StopReason& reason);

/// How many points more the objective must have for a second look at a finding: a tenth, at least 3 and at most 100.
[[nodiscard]] std::uint64_t points_to_confirm(std::uint64_t points);

/// How many points more a finding that is less certain must last: a quarter, at least 10 and at most 1,000.
[[nodiscard]] std::uint64_t points_to_last(std::uint64_t points);

/// Looks at the reports of one run as it grows. A finding leads to the end of the training when it is as grave and as
/// certain as the rule asks, the objective has enough points, and looks at later data see it still, all of them up to
/// one that has points_to_confirm() points more; a finding that is a little less certain must last for points_to_last()
/// points of a training that had learned. The training must have got worse: one that stands still
/// may yet begin to learn. That a loss is not finite any more must be true of so many of its
/// newest values, and is then certain by itself. A run that says of itself that it has ended is never to be stopped.
class StopJudge {
 public:
  explicit StopJudge(StopRule rule) : rule_(rule) {}

  [[nodiscard]] std::optional<StopReason> look(const Report& report, const Run& run);

 private:
  /// Points of the objective at looks that saw a finding, without one between that did not.
  struct Seen {
    std::uint64_t first = 0;
    std::optional<std::uint64_t> sure;  // the first of those that were as certain as the rule asks
    std::uint64_t newest = 0;
  };

  StopRule rule_;
  std::map<std::string, Seen> seen_;  // by the id of the finding
};

}  // namespace osler
