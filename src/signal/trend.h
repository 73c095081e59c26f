// Trend: does a curve rise or fall, how steeply, and how sure is that.
#pragma once

#include <span>

namespace osler::signal {

/// A monotone trend with its significance.
struct Trend {
  double slope = 0;    ///< change of y per unit of x (Theil 1950, Sen 1968: the median over all pairs)
  double change = 0;   ///< slope times the length of x: the whole change along the trend
  double z = 0;        ///< Mann-Kendall score, its variance corrected for autocorrelation (Hamed & Rao 1998)
  double p_value = 1;  ///< two-sided
  double tau = 0;      ///< Kendall's tau: -1 when every pair falls, 1 when every pair rises

  [[nodiscard]] bool falls(double alpha) const { return p_value < alpha && z < 0; }
  [[nodiscard]] bool rises(double alpha) const { return p_value < alpha && z > 0; }
};

/// The trend of y over x (rising). Longer inputs than a few hundred points are averaged in equal groups first, since
/// the method looks at all pairs.
[[nodiscard]] Trend trend_of(std::span<const double> x, std::span<const double> y);

/// The two-sided p-value of a standard normal score.
[[nodiscard]] double normal_p_value(double z);

}  // namespace osler::signal
