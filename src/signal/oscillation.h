// Oscillation: swings that mini-batch noise does not explain.
#pragma once

#include <span>

namespace osler::signal {

/// How a curve swings about its smoothed self.
struct Oscillation {
  double amplitude = 0;      ///< half the 10-to-90-percentile range of the detrended values
  double lag1 = 0;           ///< autocorrelation of successive detrended values; independent noise gives about 0
  double turning_share = 0;  ///< share of points that are local extremes; independent noise gives 2/3
  double zigzag_z = 0;       ///< how far the share of sign changes of the differences exceeds noise, in standard errors
  double period = 0;         ///< length of the strongest period in points; 0 when none stands out
  double period_share = 0;   ///< share of the swings' power that the strongest period holds
  double period_p_value = 1;  ///< Fisher's g test of the largest periodogram ordinate (Fisher 1929)
};

/// The swings of `values` about a local line through them.
[[nodiscard]] Oscillation oscillation_of(std::span<const double> values);

}  // namespace osler::signal
