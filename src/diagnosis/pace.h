// Pace: how long the steps of a run take.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/patient.h"

namespace osler {

/// Seconds per step (or per whatever the log counts) along the run.
struct Pace {
  std::string series;
  bool measured = false;  ///< from a series of step times or of throughput, not from the clock of the log's lines
  std::vector<double> step;
  std::vector<double> seconds;
  std::int64_t last_step = 0;
};

/// From a series of step times, else of throughput, else from the wall times of the series with the most points.
/// Nothing when the log has none of them.
[[nodiscard]] std::optional<Pace> pace_of(const Patient& patient);

/// A stretch without any new point.
struct Pause {
  double seconds = 0;
  std::int64_t before = 0;  ///< the last step before it
};

/// The rhythm in which points of the run arrive, by their wall times.
struct Rhythm {
  std::string series;
  double usual_seconds = 0;  ///< median distance between points
  Pause longest;
  double last_time = 0;
  std::int64_t last_step = 0;
};
[[nodiscard]] std::optional<Rhythm> rhythm_of(const Patient& patient);

}  // namespace osler
