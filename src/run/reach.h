// The largest and the smallest figure of a series that the diagnosis calculates with.
#pragma once

#include <algorithm>
#include <cmath>

namespace osler {

/// Squares and ratios of figures up to here stay finite, and every 32-bit float lies within.
inline constexpr double kLargestFigure = 1e60;
inline constexpr double kSmallestFigure = 1e-60;

/// The figure, or the largest or smallest one in its place; 0, NaN and infinite ones stay as they are.
inline double within_reach(double value) {
  const double size = std::abs(value);
  if (size == 0 || !std::isfinite(size)) return value;
  return std::copysign(std::clamp(size, kSmallestFigure, kLargestFigure), value);
}

}  // namespace osler
