// Order statistics and robust smoothing.
#include "signal/robust.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace osler::signal {

double quantile(std::span<const double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(sorted.begin(), nth, sorted.end());
  const double low = *nth;
  const double share = position - static_cast<double>(below);
  if (share == 0 || below + 1 >= sorted.size()) return low;
  return low + share * (*std::min_element(nth + 1, sorted.end()) - low);
}

double median(std::span<const double> values) {
  return quantile(values, 0.5);
}

double mad_scale(std::span<const double> values) {
  constexpr double kGaussian = 1.4826;
  const double middle = median(values);
  std::vector<double> deviations(values.begin(), values.end());
  for (double& value : deviations) value = std::abs(value - middle);
  return kGaussian * median(deviations);
}

std::vector<double> running_median(std::span<const double> values, std::size_t half_width) {
  std::vector<double> smooth(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Symmetric near the start, where curves are steep and a lopsided window would bias them; at the end, where they
    // are flat, the window keeps its reach backward, so that the newest point does not stand for itself alone.
    const std::size_t behind = std::min(half_width, i);
    const std::size_t ahead = std::min({half_width, i, values.size() - 1 - i});
    smooth[i] = median(values.subspan(i - behind, behind + ahead + 1));
  }
  return smooth;
}

std::vector<double> local_line(std::span<const double> values, std::size_t half_width) {
  const std::size_t n = values.size();
  std::vector<double> smooth(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t first = i > half_width ? i - half_width : 0;
    const std::size_t last = std::min(n, i + half_width + 1);
    const auto length = static_cast<double>(last - first);
    double mean_x = 0;
    double mean_y = 0;
    for (std::size_t j = first; j < last; ++j) {
      mean_x += static_cast<double>(j);
      mean_y += values[j];
    }
    mean_x /= length;
    mean_y /= length;
    double xx = 0;
    double xy = 0;
    for (std::size_t j = first; j < last; ++j) {
      const double x = static_cast<double>(j) - mean_x;
      xx += x * x;
      xy += x * (values[j] - mean_y);
    }
    smooth[i] = mean_y + (xx > 0 ? xy / xx * (static_cast<double>(i) - mean_x) : 0);
  }
  return smooth;
}

}  // namespace osler::signal
