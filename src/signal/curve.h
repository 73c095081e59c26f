// Curve: a series as the statistics see it: at most a few hundred points, each knowing what it stands for.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "osler/run/summary.h"

namespace osler::signal {

/// A curve of finite values over rising steps. Each point is one or more logged values merged.
struct Curve {
  std::vector<double> step;      ///< the step of the point, the middle of its range when it stands for several
  std::vector<double> value;     ///< the mean of its values
  std::vector<double> low;       ///< the smallest of its values
  std::vector<double> high;      ///< the largest of its values
  std::vector<double> count;     ///< how many values it stands for
  std::vector<double> variance;  ///< the variance of those values, 0 for one
  double inner_difference =
      0;  ///< root mean square of (x[i] - x[i-1]) / sqrt 2 over the logged values: their own noise

  [[nodiscard]] std::size_t size() const { return value.size(); }
  [[nodiscard]] bool empty() const { return value.empty(); }
  /// How many logged values there are in all.
  [[nodiscard]] double points() const;
};

/// The finest curve findings look at; O(n^2) tools stay quick at this size.
inline constexpr std::size_t kCurvePoints = 512;

/// The curve of a summary. Neighbouring buckets are merged until at most `at_most` points are left.
[[nodiscard]] Curve curve_of(const Summary& summary, std::size_t at_most = kCurvePoints);
[[nodiscard]] Curve curve_of(std::vector<Bucket> buckets, std::size_t at_most = kCurvePoints);

/// The points from index `first` up to but not including `last`.
[[nodiscard]] Curve slice(const Curve& curve, std::size_t first, std::size_t last);

/// The same curve with its values negated: turns "higher is better" into a loss.
[[nodiscard]] Curve negated(Curve curve);

}  // namespace osler::signal
