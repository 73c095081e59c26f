// Spikes: isolated jumps that go away again.
#pragma once

#include <optional>
#include <vector>

#include "signal/curve.h"

namespace osler::signal {

/// One jump above the smoothed curve.
struct Spike {
  std::size_t first = 0;   ///< index of the first point above the limit
  std::size_t last = 0;    ///< one past the last
  double step = 0;         ///< where it peaks
  double peak = 0;         ///< its highest value
  double base = 0;         ///< the smoothed curve there, without it
  double score = 0;        ///< (peak - base) in units of the curve's noise
  bool recovered = false;  ///< the smoothed curve after it is back near what it was before
};

/// What counts as a spike.
struct SpikeOptions {
  double score = 8;               ///< noise units above the smoothed curve; beyond any plausible Gaussian outlier
  double factor_score = 6;        ///< the same for the factor above the smoothed curve, where that is positive
  double share_of_level = 0.5;    ///< and at least this share of the level of the smoothed curve
  double share_of_descent = 0.3;  ///< and of how far it has come down so far
  double recovery = 0.25;         ///< recovered when it is back within this share of the height
  std::size_t longest = 0;        ///< points a spike may last; 0: a tenth of the curve, at least 3
};

/// The spikes of a curve, in order.
[[nodiscard]] std::vector<Spike> spikes_of(const Curve& curve, const SpikeOptions& options = {});

/// The common gap between spikes when at least four of them are regular (relative spread of the gaps below 15 %).
[[nodiscard]] std::optional<double> period_of(const std::vector<Spike>& spikes);

}  // namespace osler::signal
