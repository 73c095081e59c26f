// Random: seeded numbers that are the same on every platform, which the standard distributions are not.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace osler::simulate {

/// xoshiro256** (Blackman and Vigna) seeded by splitmix64, with the distributions the simulations need.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  /// 64 random bits.
  std::uint64_t bits();
  /// Uniform in [0, 1).
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in the logarithm; both ends must be positive.
  double log_uniform(double low, double high);
  /// An integer from low to high, both included.
  std::int64_t integer(std::int64_t low, std::int64_t high);
  /// An integer, uniform in the logarithm.
  std::int64_t log_integer(std::int64_t low, std::int64_t high);
  bool chance(double probability) { return uniform() < probability; }
  /// Standard normal, by Marsaglia's polar method.
  double normal();
  /// Student's t with three degrees of freedom, scaled to unit variance: heavy tails.
  double heavy();
  /// How many of `trials` succeed.
  std::int64_t binomial(std::int64_t trials, double probability);
  /// One of the choices, all equally likely.
  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace osler::simulate
