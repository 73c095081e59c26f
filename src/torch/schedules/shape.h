// What the shapes of schedules have in common: checks of their numbers, and the two ways between two values.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string_view>

namespace osler::torch {

inline void require_steps(std::string_view schedule, std::string_view name, std::int64_t steps,
                          std::int64_t least = 1) {
  if (steps >= least) return;
  throw std::invalid_argument(fmt::format("osler: {} needs {} of at least {}, not {}", schedule, name, least, steps));
}

/// Finite and not negative.
inline void require_factor(std::string_view schedule, std::string_view name, double value) {
  if (std::isfinite(value) && value >= 0) return;
  throw std::invalid_argument(fmt::format("osler: {} needs {} of 0 or more, not {}", schedule, name, value));
}

/// From 0 up to 1.
inline void require_share(std::string_view schedule, std::string_view name, double value) {
  if (value >= 0 && value <= 1) return;
  throw std::invalid_argument(fmt::format("osler: {} needs {} from 0 to 1, not {}", schedule, name, value));
}

/// From `from` at 0 to `to` at 1 along half a cosine, or along a straight line.
inline double along_cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}
inline double along_line(double from, double to, double share) {
  return from + (to - from) * share;
}

}  // namespace osler::torch
