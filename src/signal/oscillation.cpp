// Detrending, turning points and Fisher's test for a hidden period.
#include "signal/oscillation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "signal/noise.h"
#include "signal/robust.h"

namespace osler::signal {
namespace {

/// P(g > x) for the share g of the largest of m periodogram ordinates: sum over j of (-1)^(j-1) C(m,j) (1-jx)^(m-1).
/// The first term bounds it from above and is accurate where it matters.
double fisher_p_value(double g, std::size_t m) {
  const auto count = static_cast<double>(m);
  return std::min(1.0, count * std::pow(std::max(0.0, 1 - g), count - 1));
}

void find_period(const std::vector<double>& detrended, Oscillation& found) {
  const std::size_t n = detrended.size();
  const std::size_t m = (n - 1) / 2;
  if (m < 4) return;
  double total = 0;
  double largest = 0;
  std::size_t at = 0;
  // The three slowest frequencies are what detrending leaves of the trend.
  constexpr std::size_t kSlowest = 4;
  for (std::size_t k = kSlowest; k <= m; ++k) {
    const double step = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    // Goertzel's recurrence: one multiplication per value.
    const double turn = 2 * std::cos(step);
    double now = 0;
    double before = 0;
    for (const double value : detrended) {
      const double next = value + turn * now - before;
      before = now;
      now = next;
    }
    const double power = now * now + before * before - turn * now * before;
    total += power;
    if (power > largest) {
      largest = power;
      at = k;
    }
  }
  if (!(total > 0)) return;
  found.period_share = largest / total;
  found.period_p_value = fisher_p_value(found.period_share, m - kSlowest + 1);
  found.period = static_cast<double>(n) / static_cast<double>(at);
}

}  // namespace

Oscillation oscillation_of(std::span<const double> values) {
  Oscillation found;
  const std::size_t n = values.size();
  if (n < 8) return found;
  const std::size_t half_width = std::max<std::size_t>(4, n / 6);
  const std::vector<double> smoothed = local_line(values, half_width);
  std::vector<double> detrended(n);
  for (std::size_t i = 0; i < n; ++i) detrended[i] = values[i] - smoothed[i];
  found.amplitude = 0.5 * (quantile(detrended, 0.9) - quantile(detrended, 0.1));
  found.lag1 = autocorrelation(detrended, 1);

  std::size_t turns = 0;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    turns += (values[i] - values[i - 1]) * (values[i + 1] - values[i]) < 0 ? 1 : 0;
  }
  // Turning points of n independent values: mean 2(n-2)/3, variance (16n-29)/90 (Bienayme 1874).
  const auto count = static_cast<double>(n);
  found.turning_share = static_cast<double>(turns) / (count - 2);
  found.zigzag_z = (static_cast<double>(turns) - 2 * (count - 2) / 3) / std::sqrt((16 * count - 29) / 90);
  find_period(detrended, found);
  return found;
}

}  // namespace osler::signal
