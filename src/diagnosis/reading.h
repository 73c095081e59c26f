// Reading: one objective's curve with what every finding asks of it, computed once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "osler/run/role.h"
#include "signal/curve.h"
#include "signal/noise.h"
#include "signal/trend.h"

namespace osler {

/// A curve that should go down (metrics that should go up are negated), and its landmarks.
struct Reading {
  std::string name;       ///< the series it comes from, "a + b" for a sum of components
  bool computed = false;  ///< no series of the log, but made from several; `name` says how
  bool negated = false;   ///< the series should rise; values here have the opposite sign
  signal::Curve curve;
  signal::Noise noise;
  std::vector<double> smoothed;  ///< the curve without its noise: a running median
  double start = 0;              ///< level of the first points of the curve, each of which may stand for many values
  double opening = 0;            ///< the first value of the log, as it stands there
  double end = 0;                ///< level of the last tenth
  double best = 0;               ///< lowest level of `smoothed`
  double top = 0;                ///< highest level of `smoothed`
  std::size_t best_at = 0;       ///< index of `best`
  double level = 0;              ///< median of the absolute values: the scale when nothing improves
  std::uint64_t nonfinite = 0;
  std::int64_t first_nonfinite_step = 0;
  bool ends_nonfinite = false;  ///< the newest point is NaN or infinite
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;

  [[nodiscard]] std::size_t size() const { return curve.size(); }
  /// How far the objective came at its best.
  [[nodiscard]] double improvement() const { return start - best; }
  /// The value as the user's log has it.
  [[nodiscard]] double shown(double value) const { return negated ? -value : value; }
  /// Index of the last point at or before `step`.
  [[nodiscard]] std::size_t index_at(double step) const;
  /// The step at index `i`, as a whole number.
  [[nodiscard]] std::int64_t step_at(std::size_t i) const;
};

/// Whether a curve scatters so little that a single value is no matter of luck, and its levels stand in the log.
[[nodiscard]] bool is_calm(const Reading& reading);

/// Reads one series.
[[nodiscard]] Reading read_series(const Series& series, bool higher_is_better);
/// Reads the sum of several series that were logged together; they must have equally many points.
[[nodiscard]] Reading read_sum(const std::vector<const Series*>& parts);
/// Reads the norm of a whole from the norms of its parts, the root of their sum of squares at each step. The parts must
/// have been logged at the same steps.
[[nodiscard]] Reading read_norm(const std::vector<const Series*>& parts, std::string name);

}  // namespace osler
