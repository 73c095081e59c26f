// The noise of a curve: how far its points lie from the smooth path they follow.
#pragma once

#include <span>
#include <vector>

namespace osler::signal {

/// The scatter of a curve around its own smoothed curve.
struct Noise {
  double sigma = 0;  ///< standard deviation of a point around the local line through its neighbours
  double lag1 = 0;   ///< autocorrelation of successive residuals: near 1 when the log holds running means
};

/// Noise from successive differences: 1.4826 median|x[i+1] - x[i]| / sqrt 2 (after von Neumann 1941; robust as in Rice
/// 1984). Blind to slow wandering, so it is a lower bound. Where most differences are 0 (rounded values) their root
/// mean square is used.
[[nodiscard]] double difference_noise(std::span<const double> values);

/// Noise around a local line: the larger of the robust residual scale and the difference noise.
[[nodiscard]] Noise noise_of(std::span<const double> values);

/// The autocorrelation of `values` about their mean at `lag`; 0 when it cannot be told.
[[nodiscard]] double autocorrelation(std::span<const double> values, std::size_t lag);

/// How many independent values `n` values with lag-1 autocorrelation `lag1` are worth: n (1 - r) / (1 + r), at least 2.
[[nodiscard]] double effective_count(double n, double lag1);

}  // namespace osler::signal
