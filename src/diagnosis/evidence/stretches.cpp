// Levels and standard errors of the parts of a curve.
#include "diagnosis/evidence/stretches.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "signal/noise.h"
#include "signal/robust.h"

namespace osler {
namespace {

constexpr std::size_t kFewestPoints = 6;
constexpr std::size_t kShortest = 3;
constexpr double kTail = 0.02;  // share of the values at either end that may be wild
constexpr double kWild = 1;     // spans of all other values by which they may lie outside

/// One episode gone wild must not outweigh all others; medians would not see a rare reward.
std::vector<double> tamed(const std::vector<double>& values) {
  const double low = signal::quantile(values, kTail);
  const double high = signal::quantile(values, 1 - kTail);
  std::vector<double> tame(values);
  if (!(high > low)) return tame;
  for (double& value : tame) value = std::clamp(value, low - kWild * (high - low), high + kWild * (high - low));
  return tame;
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(std::max<std::size_t>(1, values.size() - 1));
}

}  // namespace

std::size_t Stretches::best() const {
  return static_cast<std::size_t>(
      std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.level < b.level; }) -
      all.begin());
}

std::size_t Stretches::worst() const {
  return static_cast<std::size_t>(
      std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.level < b.level; }) -
      all.begin());
}

Stretch Stretches::joined(std::size_t from) const {
  Stretch sum = all[from];
  const auto parts = static_cast<double>(all.size() - from);
  double squared = 0;
  sum.level = 0;
  for (std::size_t i = from; i < all.size(); ++i) {
    sum.level += all[i].level / parts;
    squared += all[i].error * all[i].error;
  }
  sum.error = std::sqrt(squared) / parts;
  sum.last = all.back().last;
  return sum;
}

Stretches stretches_of(const Reading& reading, std::size_t most) {
  Stretches stretches;
  const std::size_t n = reading.size();
  if (n < kFewestPoints) return stretches;
  const std::vector<double> values = tamed(reading.curve.value);
  const std::size_t parts = std::clamp<std::size_t>(n / kShortest, 2, most);
  double squared = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * n / parts;
    const std::size_t last = (part + 1) * n / parts;
    const auto stretch = std::span<const double>(values).subspan(first, last - first);
    const double level = mean_of(stretch);
    const double variance = variance_of(stretch, level);
    const double count = signal::effective_count(static_cast<double>(stretch.size()),
                                                 std::max(0.0, signal::autocorrelation(stretch, 1)));
    stretches.all.push_back({first, last, level, std::sqrt(variance / count)});
    squared += variance / static_cast<double>(parts);
  }
  stretches.scatter = std::sqrt(squared);
  return stretches;
}

double errors_gained(const Stretch& earlier, const Stretch& later) {
  const double error = std::hypot(earlier.error, later.error);
  const double gain = earlier.level - later.level;
  if (error > 0) return gain / error;
  return gain == 0 ? 0 : std::copysign(std::numeric_limits<double>::max(), gain);
}

}  // namespace osler
