// What follows from the statistics of a pair of tensors.
#include "osler/stats/pair_stats.h"

#include <cmath>
#include <limits>

namespace osler::stats {

namespace {

double ratio(double part, double whole) {
  return whole == 0 ? 0.0 : part / whole;
}

}  // namespace

double PairStats::a_norm() const {
  return std::sqrt(a_squared);
}

double PairStats::b_norm() const {
  return std::sqrt(b_squared);
}

double PairStats::difference_norm() const {
  return std::sqrt(difference_squared);
}

double PairStats::cosine() const {
  return ratio(dot, a_norm() * b_norm());
}

double PairStats::relative_change() const {
  return ratio(difference_norm(), a_norm());
}

double PairStats::relative_size() const {
  return ratio(b_norm(), a_norm());
}

double PairStats::lost_share() const {
  return ratio(static_cast<double>(below_resolution), static_cast<double>(b_nonzero));
}

void PairStats::merge(const PairStats& other) {
  count += other.count;
  excluded += other.excluded;
  dot += other.dot;
  a_squared += other.a_squared;
  b_squared += other.b_squared;
  difference_squared += other.difference_squared;
  b_nonzero += other.b_nonzero;
  below_resolution += other.below_resolution;
}

double GradientNoise::scale() const {
  return signal > 0 ? noise / signal : std::numeric_limits<double>::infinity();
}

GradientNoise gradient_noise(std::span<const PairStats> consecutive, double batch_size) {
  if (consecutive.empty()) return {};
  const double pairs = static_cast<double>(consecutive.size());
  double dot = 0;
  double squared = 0;
  for (const PairStats& pair : consecutive) {
    dot += pair.dot / pairs;
    squared += (pair.a_squared + pair.b_squared) / (2 * pairs);
  }
  return {dot, batch_size * (squared - dot)};
}

GradientNoise gradient_noise(double small_squared, double small_batch, double big_squared, double big_batch) {
  const double signal = (big_batch * big_squared - small_batch * small_squared) / (big_batch - small_batch);
  const double noise = (small_squared - big_squared) / (1 / small_batch - 1 / big_batch);
  return {signal, noise};
}

}  // namespace osler::stats
