// From the statistics of a tensor to numbers and histograms that can be recorded.
#include "recorder/tensor_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "osler/recorder/recorder.h"

namespace osler {
namespace recording {
namespace {

double rounded(double value) {
  const auto narrow = static_cast<double>(static_cast<float>(value));
  const bool lost = std::isinf(narrow) || std::abs(narrow) < static_cast<double>(std::numeric_limits<float>::min());
  return lost ? value : narrow;
}

/// The norm of the whole tensor, its non-finite elements included.
double norm_of(const stats::TensorStats& stats) {
  if (stats.nan_count > 0) return std::numeric_limits<double>::quiet_NaN();
  if (stats.inf_count > 0) return std::numeric_limits<double>::infinity();
  return stats.l2();
}

}  // namespace

std::array<double, kTensorStatistics.size()> tensor_values(const stats::TensorStats& stats) {
  // Where nothing is finite there is no spread, which is not a spread of zero.
  const bool nothing = stats.finite_count() == 0 && stats.nan_count + stats.inf_count > 0;
  const auto known = [&](double value) { return nothing ? std::numeric_limits<double>::quiet_NaN() : value; };
  std::array<double, kTensorStatistics.size()> values = {norm_of(stats),
                                                         known(stats.std_dev()),
                                                         known(stats.mean),
                                                         known(stats.abs_max()),
                                                         stats.zero_share(),
                                                         stats.near_zero_share(),
                                                         static_cast<double>(stats.nan_count + stats.inf_count)};
  for (double& value : values) value = rounded(value);
  return values;
}

}  // namespace recording

std::string tensor_name(TensorKind kind, std::string_view layer) {
  std::string name;
  switch (kind) {
    case TensorKind::gradient:
      name = "gradients/";
      break;
    case TensorKind::weight:
      name = "weights/";
      break;
    case TensorKind::update:
      name = "updates/";
      break;
    case TensorKind::activation:
      name = "activations/";
      break;
  }
  return name.append(layer);
}

Histogram to_histogram(const stats::LogHistogram& counts, const stats::TensorStats& stats) {
  Histogram histogram;
  const auto finite = static_cast<double>(stats.finite_count());
  if (stats.finite_count() > 0) {
    histogram.min = stats.min;
    histogram.max = stats.max;
  }
  histogram.count = finite;
  histogram.sum = stats.mean * finite;
  histogram.sum_squares = stats.l2() * stats.l2();
  const auto bin = [&](double limit, std::uint64_t count) {
    if (count == 0 && histogram.limits.empty()) return;  // nothing is that low
    histogram.limits.push_back(limit);
    histogram.counts.push_back(static_cast<double>(count));
  };
  // A bin of negative numbers holds its upper edge, as here; one of positive numbers does not, so it ends just before.
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  for (std::size_t b = stats::LogHistogram::kBins; b-- > 0;) {
    bin(b == 0 ? -kLeast : -stats::LogHistogram::lower_edge(b), counts.negative[b]);
  }
  bin(0, counts.zeros);
  for (std::size_t b = 0; b < stats::LogHistogram::kBins; ++b) {
    const bool last = b + 1 == stats::LogHistogram::kBins;
    const double upper =
        last ? std::numeric_limits<double>::max() : std::nextafter(stats::LogHistogram::lower_edge(b + 1), 0.0);
    bin(upper, counts.positive[b]);
  }
  while (!histogram.counts.empty() && histogram.counts.back() == 0) {
    histogram.limits.pop_back();
    histogram.counts.pop_back();
  }
  // The outermost bins end where the values do.
  if (!histogram.limits.empty()) histogram.limits.back() = std::min(histogram.limits.back(), histogram.max);
  return histogram;
}

}  // namespace osler
