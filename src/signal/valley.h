// Valley: does a curve fall and then rise again for good.
#pragma once

#include <cstddef>
#include <span>

#include "signal/trend.h"

namespace osler::signal {

/// The best falling-then-rising fit of a curve (unimodal least squares by pooling adjacent violators).
struct Valley {
  std::size_t bottom = 0;  ///< index of the lowest fitted point
  double floor = 0;        ///< fitted value there
  double begin = 0;        ///< fitted value at the start
  double end = 0;          ///< fitted value at the end
  double explained = 0;    ///< share of a purely falling fit's residual that the valley explains: 0 to 1
  Trend after;             ///< the trend from the bottom on

  [[nodiscard]] double rise() const { return end - floor; }
  [[nodiscard]] double fall() const { return begin - floor; }
};

/// The valley of `values` over `steps`. At least 4 points.
[[nodiscard]] Valley valley_of(std::span<const double> steps, std::span<const double> values);

}  // namespace osler::signal
