// Exercise 16: a learning rate that warms up and then falls along a cosine.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

struct Schedule {
  double peak = 1e-3;
  double floor_share = 0.1;  // the last rate as a share of the peak
  long steps = 1000;         // of the whole training
  long warmup = 100;         // steps until the peak is reached
};

// The way down begins at the last warm-up step and ends at the last step, so that both have exactly their rates.
inline double rate_at(const Schedule& schedule, long step) {
  if (step < schedule.warmup) {
    return schedule.peak * static_cast<double>(step + 1) / static_cast<double>(schedule.warmup);
  }
  const long top = std::max(0L, schedule.warmup - 1);
  const long bottom = schedule.steps - 1;
  if (bottom <= top) return schedule.peak;
  const double done = std::min(1.0, static_cast<double>(step - top) / static_cast<double>(bottom - top));
  const double share = (1 + std::cos(std::numbers::pi * done)) / 2;
  return schedule.peak * (schedule.floor_share + (1 - schedule.floor_share) * share);
}
