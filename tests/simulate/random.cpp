// The generator and its distributions.
#include "simulate/random.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace osler::simulate {

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    word = mixed ^ (mixed >> 31);
  }
}

std::uint64_t Random::bits() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1.0p-53;
}

double Random::log_uniform(double low, double high) {
  return low * std::exp(uniform() * std::log(high / low));
}

std::int64_t Random::integer(std::int64_t low, std::int64_t high) {
  const auto choices = static_cast<std::uint64_t>(high - low) + 1;
  return low + static_cast<std::int64_t>(bits() % choices);
}

std::int64_t Random::log_integer(std::int64_t low, std::int64_t high) {
  const double drawn = log_uniform(static_cast<double>(low), static_cast<double>(high) + 1.0);
  return std::min(high, static_cast<std::int64_t>(drawn));
}

double Random::normal() {
  while (true) {
    const double x = uniform(-1.0, 1.0);
    const double y = uniform(-1.0, 1.0);
    const double square = x * x + y * y;
    if (square > 0.0 && square < 1.0) return x * std::sqrt(-2.0 * std::log(square) / square);
  }
}

double Random::heavy() {
  const double top = normal();
  const double a = normal();
  const double b = normal();
  const double c = normal();
  return top / std::sqrt((a * a + b * b + c * c) / 3.0) / std::numbers::sqrt3;
}

std::int64_t Random::binomial(std::int64_t trials, double probability) {
  constexpr std::int64_t kExactTrials = 200;  // beyond, the normal approximation is good enough for a simulation
  if (trials > kExactTrials) {
    const double mean = static_cast<double>(trials) * probability;
    const double drawn = std::round(mean + normal() * std::sqrt(mean * (1.0 - probability)));
    return std::min(trials, std::max<std::int64_t>(0, static_cast<std::int64_t>(drawn)));
  }
  std::int64_t successes = 0;
  for (std::int64_t i = 0; i < trials; ++i) successes += chance(probability) ? 1 : 0;
  return successes;
}

}  // namespace osler::simulate
