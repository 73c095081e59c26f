// The schedules' formulas.
#include "simulate/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace osler::simulate {
namespace {

double cosine_fall(double x) {
  return 0.5 * (1.0 + std::cos(std::numbers::pi * x));
}

/// What a schedule needs to know beyond its kind, drawn once per run.
struct Shape {
  double floor = 0;    // where cosine and linear end, as a share of the peak
  double divide = 10;  // step decay: each step divides by this
  std::int64_t steps = 2;
  double rate = 3;  // exponential: how many e-folds in all
  std::int64_t cycles = 3;
  double cooldown = 0.2;
};

double factor_at(Schedule schedule, double x, const Shape& shape) {
  switch (schedule) {
    case Schedule::constant:
      return 1.0;
    case Schedule::step_decay:
      return std::pow(shape.divide, -std::floor(std::min(x, 0.999) * static_cast<double>(shape.steps + 1)));
    case Schedule::cosine:
      return shape.floor + (1.0 - shape.floor) * cosine_fall(x);
    case Schedule::linear:
      return shape.floor + (1.0 - shape.floor) * (1.0 - x);
    case Schedule::inverse_sqrt:
      return 1.0 / std::sqrt(1.0 + 30.0 * x);
    case Schedule::exponential:
      return std::exp(-shape.rate * x);
    case Schedule::one_cycle:
      return x < 0.3 ? 0.04 + 0.96 * cosine_fall(1.0 - x / 0.3) : std::max(1e-4, cosine_fall((x - 0.3) / 0.7));
    case Schedule::warm_restarts: {
      const double turn = std::min(x, 0.9999) * static_cast<double>(shape.cycles);
      return std::max(0.01, cosine_fall(turn - std::floor(turn)));
    }
    case Schedule::stable_then_decay:
      return x < 1.0 - shape.cooldown ? 1.0 : std::max(0.001, (1.0 - x) / shape.cooldown);
  }
  return 1.0;
}

}  // namespace

Levels schedule_factors(Schedule schedule, const Axis& axis, double warmup, Random& random) {
  Shape shape;
  shape.floor = random.pick({0.0, 0.01, 0.1});
  shape.divide = random.pick({2.0, 3.0, 5.0, 10.0, 10.0});
  shape.steps = random.integer(1, 3);
  shape.rate = random.uniform(1.0, 4.0);
  shape.cycles = random.integer(2, 5);
  shape.cooldown = random.uniform(0.1, 0.3);
  Levels factors(axis.rows());
  for (std::size_t row = 0; row < factors.size(); ++row) {
    const double x = axis.progress(row);
    factors[row] = x < warmup ? x / warmup : factor_at(schedule, (x - warmup) / (1.0 - warmup), shape);
  }
  return factors;
}

Schedule any_schedule(Random& random) {
  return random.pick({Schedule::constant, Schedule::constant, Schedule::step_decay, Schedule::cosine, Schedule::cosine,
                      Schedule::linear, Schedule::inverse_sqrt, Schedule::exponential, Schedule::one_cycle,
                      Schedule::stable_then_decay});
}

double any_peak_rate(Random& random) {
  return random.pick({1e-5, 2e-5, 5e-5, 1e-4, 3e-4, 6e-4, 1e-3, 2e-3, 1e-2, 3e-2, 0.1});
}

Levels times(const Levels& factors, double peak) {
  Levels values = factors;
  for (double& value : values) value *= peak;
  return values;
}

}  // namespace osler::simulate
