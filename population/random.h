// Random numbers that are the same on every machine: the standard leaves its distributions to the library.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace osler::population {

/// Mixes the bits of a number; equal inputs give equal outputs everywhere.
inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// A stream of random draws.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mixed(seed)) {}

  /// Uniform in [0, 1).
  double uniform() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return static_cast<double>(mixed(state_) >> 11U) * 0x1.0p-53;
  }
  /// Uniform in [low, high).
  double between(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform on the logarithmic scale; both ends above zero.
  double log_between(double low, double high) { return low * std::pow(high / low, uniform()); }
  /// A whole number in [low, high].
  long whole(long low, long high) { return low + static_cast<long>(uniform() * static_cast<double>(high - low + 1)); }
  /// A whole number in [low, high], uniform on the logarithmic scale.
  long log_whole(long low, long high) {
    return static_cast<long>(log_between(static_cast<double>(low), static_cast<double>(high) + 0.999));
  }
  /// True with this probability.
  bool chance(double probability) { return uniform() < probability; }
  /// One of the values.
  template <typename Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[static_cast<std::size_t>(uniform() * static_cast<double>(values.size()))];
  }
  /// An index, drawn by weight.
  std::size_t weighted(std::span<const double> weights) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    double left = uniform() * sum;
    for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
      left -= weights[i];
      if (left < 0) return i;
    }
    return weights.size() - 1;
  }
  /// From the normal distribution.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace osler::population
