// Theil-Sen slope and the Mann-Kendall test with Hamed and Rao's variance.
#include "signal/trend.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "signal/noise.h"
#include "signal/robust.h"

namespace osler::signal {
namespace {

constexpr std::size_t kMostPoints = 256;
constexpr std::size_t kFewPoints = 10;  // up to here orders are counted

struct Samples {
  std::vector<double> x;
  std::vector<double> y;
};

Samples grouped(std::span<const double> x, std::span<const double> y) {
  const std::size_t n = std::min(x.size(), y.size());
  const std::size_t group = (n + kMostPoints - 1) / kMostPoints;
  Samples samples;
  for (std::size_t first = 0; first < n; first += std::max<std::size_t>(group, 1)) {
    const std::size_t last = std::min(n, first + group);
    const auto length = static_cast<double>(last - first);
    double sum_x = 0;
    double sum_y = 0;
    for (std::size_t i = first; i < last; ++i) {
      sum_x += x[i];
      sum_y += y[i];
    }
    samples.x.push_back(sum_x / length);
    samples.y.push_back(sum_y / length);
  }
  return samples;
}

/// Var(S) without ties corrections is n(n-1)(2n+5)/18; each group of equal values takes its own part away.
double mann_kendall_variance(const std::vector<double>& y) {
  const auto n = static_cast<double>(y.size());
  std::map<double, double> ties;
  for (const double value : y) ++ties[value];
  double variance = n * (n - 1) * (2 * n + 5);
  for (const auto& [value, count] : ties) variance -= count * (count - 1) * (2 * count + 5);
  return variance / 18;
}

double sum_of_squares(const std::vector<double>& values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [&](double sum, double value) { return sum + (value - mean) * (value - mean); });
}

/// What a straight line leaves of the values.
std::vector<double> beside_line(const Samples& samples, double slope) {
  std::vector<double> residuals(samples.y);
  for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] -= slope * samples.x[i];
  return residuals;
}

/// What a curve that bends but never turns (pooled adjacent violators) leaves of the values.
std::vector<double> beside_bend(const Samples& samples, double slope) {
  struct Block {
    double sum = 0;
    std::size_t count = 0;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };
  const double direction = slope < 0 ? -1 : 1;
  std::vector<Block> blocks;
  for (const double value : samples.y) {
    Block block{direction * value, 1};
    while (!blocks.empty() && blocks.back().mean() >= block.mean()) {
      block.sum += blocks.back().sum;
      block.count += blocks.back().count;
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  std::vector<double> residuals(samples.y);
  std::size_t at = 0;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.count; ++i) residuals[at++] -= direction * block.mean();
  }
  return residuals;
}

/// Hamed and Rao's factor: autocorrelated residuals carry less evidence than their number suggests.
double autocorrelation_factor(const std::vector<double>& residuals) {
  const std::size_t n = residuals.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return residuals[a] < residuals[b]; });
  std::vector<double> ranks(n);
  for (std::size_t i = 0; i < n; ++i) ranks[order[i]] = static_cast<double>(i);
  const auto count = static_cast<double>(n);
  const double bound = 1.96 / std::sqrt(count);
  double sum = 0;
  const std::size_t longest_lag = std::min<std::size_t>(n / 4, 32);
  for (std::size_t lag = 1; lag <= longest_lag; ++lag) {
    const double rho = autocorrelation(ranks, lag);
    const auto k = static_cast<double>(lag);
    if (std::abs(rho) > bound) sum += (count - k) * (count - k - 1) * (count - k - 2) * rho;
  }
  // Never below 1: anti-correlated noise must not make a trend look surer than independent noise would.
  return std::max(1.0, 1 + 2 / (count * (count - 1) * (count - 2)) * sum);
}

/// The factor for values with a trend. What a line leaves of a learning curve is its bend, which is no noise: where a
/// curve that never turns explains nearly everything, what that one leaves may tell instead.
double evidence_factor(const Samples& samples, double slope) {
  constexpr double kNearlyAll = 0.9;
  const double straight = autocorrelation_factor(beside_line(samples, slope));
  const std::vector<double> rest = beside_bend(samples, slope);
  if (sum_of_squares(rest) > (1 - kNearlyAll) * sum_of_squares(samples.y)) return straight;
  return std::min(straight, autocorrelation_factor(rest));
}

/// The chance that values without any order score `score` or more, by counting orders (Kendall 1938). For a handful of
/// values the normal curve is too cautious by half.
double exact_tail(std::size_t n, double score) {
  // orders[k]: how many orders of the values so far have k pairs that rise.
  std::vector<double> orders{1};
  for (std::size_t placed = 1; placed < n; ++placed) {
    std::vector<double> next(orders.size() + placed, 0.0);
    for (std::size_t k = 0; k < orders.size(); ++k) {
      for (std::size_t risen = 0; risen <= placed; ++risen) next[k + risen] += orders[k];
    }
    orders = std::move(next);
  }
  const double pairs = 0.5 * static_cast<double>(n) * static_cast<double>(n - 1);
  const auto least = static_cast<std::size_t>(std::lround((pairs + std::abs(score)) / 2));
  const double all = std::accumulate(orders.begin(), orders.end(), 0.0);
  return std::accumulate(orders.begin() + static_cast<std::ptrdiff_t>(least), orders.end(), 0.0) / all;
}

}  // namespace

double normal_p_value(double z) {
  return std::erfc(std::abs(z) / std::sqrt(2.0));
}

Trend trend_of(std::span<const double> x, std::span<const double> y) {
  Trend trend;
  const Samples samples = grouped(x, y);
  const std::size_t n = samples.y.size();
  if (n < 4) return trend;

  std::vector<double> slopes;
  slopes.reserve(n * (n - 1) / 2);
  double score = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double dy = samples.y[j] - samples.y[i];
      const double dx = samples.x[j] - samples.x[i];
      score += dy > 0 ? 1 : (dy < 0 ? -1 : 0);
      if (dx > 0) slopes.push_back(dy / dx);
    }
  }
  if (slopes.empty()) return trend;
  trend.slope = median(slopes);
  trend.change = trend.slope * (samples.x.back() - samples.x.front());
  trend.tau = score / (0.5 * static_cast<double>(n) * static_cast<double>(n - 1));
  const double untied = static_cast<double>(n) * static_cast<double>(n - 1) * (2 * static_cast<double>(n) + 5) / 18;
  const double factor = evidence_factor(samples, trend.slope);
  const double variance = mann_kendall_variance(samples.y);
  if (variance > 0 && score != 0) trend.z = (score - (score > 0 ? 1 : -1)) / std::sqrt(variance * factor);
  const bool countable = n <= kFewPoints && variance == untied && factor == 1;
  trend.p_value = countable ? std::min(1.0, 2 * exact_tail(n, score)) : normal_p_value(trend.z);
  return trend;
}

}  // namespace osler::signal
