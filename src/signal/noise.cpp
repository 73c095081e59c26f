// Noise estimates that hold for curves with trends, outliers, rounding and smoothing.
#include "signal/noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "signal/robust.h"

namespace osler::signal {

double difference_noise(std::span<const double> values) {
  if (values.size() < 3) return 0;
  std::vector<double> differences(values.size() - 1);
  for (std::size_t i = 0; i + 1 < values.size(); ++i) differences[i] = std::abs(values[i + 1] - values[i]);
  constexpr double kGaussian = 1.4826;
  const double robust = kGaussian * median(differences) / std::sqrt(2.0);
  if (robust > 0) return robust;
  double sum = 0;
  for (const double d : differences) sum += d * d;
  return std::sqrt(sum / static_cast<double>(differences.size()) / 2);
}

Noise noise_of(std::span<const double> values) {
  Noise noise;
  noise.sigma = difference_noise(values);
  if (values.size() < 8) return noise;
  const std::size_t half_width = std::clamp<std::size_t>(values.size() / 16, 2, 16);
  const std::vector<double> smooth = local_line(running_median(values, 1), half_width);
  std::vector<double> residuals(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) residuals[i] = values[i] - smooth[i];
  noise.sigma = std::max(noise.sigma, mad_scale(residuals));
  noise.lag1 = autocorrelation(residuals, 1);
  return noise;
}

double autocorrelation(std::span<const double> values, std::size_t lag) {
  if (values.size() < lag + 3) return 0;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double power = 0;
  double product = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    power += (values[i] - mean) * (values[i] - mean);
    if (i >= lag) product += (values[i] - mean) * (values[i - lag] - mean);
  }
  return power > 0 ? product / power : 0;
}

double effective_count(double n, double lag1) {
  const double r = std::clamp(lag1, -0.5, 0.99);
  return std::max(2.0, n * (1 - r) / (1 + r));
}

}  // namespace osler::signal
