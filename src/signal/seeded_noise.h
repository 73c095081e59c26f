// Reproducible noise for the tests of this module.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace osler::signal {

/// Standard normal numbers that are the same on every machine (splitmix64 and Box-Muller).
class SeededNoise {
 public:
  explicit SeededNoise(std::uint64_t seed) : state_(seed) {}

  double next() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  std::vector<double> take(std::size_t count, double scale = 1) {
    std::vector<double> values(count);
    for (double& value : values) value = scale * next();
    return values;
  }

 private:
  double uniform() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    mixed ^= mixed >> 31;
    return (static_cast<double>(mixed >> 11) + 0.5) / 9007199254740992.0;
  }

  std::uint64_t state_;
};

/// 0, 1, 2, ...
inline std::vector<double> counting(std::size_t count) {
  std::vector<double> steps(count);
  for (std::size_t i = 0; i < count; ++i) steps[i] = static_cast<double>(i);
  return steps;
}

}  // namespace osler::signal
