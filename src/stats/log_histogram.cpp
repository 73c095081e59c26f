// Bins, merging and quantiles of the log-scale histogram.
#include "osler/stats/log_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace osler::stats {

namespace {

constexpr int kBias = 127;

/// A magnitude at a fraction (0..1) of the way through a bin, even on the logarithmic scale.
double inside(std::size_t bin, double fraction) {
  if (bin == 0) return fraction * 0x1p-126;
  if (bin == LogHistogram::kBins - 1) return LogHistogram::lower_edge(bin);
  return LogHistogram::lower_edge(bin) * std::exp2(std::min(fraction, 1 - 0x1p-40));
}

/// Walks over groups of equal rank order until the one that holds the wanted rank.
struct RankWalk {
  double wanted;
  double passed = 0;

  /// Whether the rank is in the next group of `count` values; if so `fraction` says how far through it.
  bool next(std::uint64_t count, double& fraction) {
    const double here = static_cast<double>(count);
    if (count > 0 && wanted < passed + here) {
      fraction = (wanted - passed + 0.5) / here;
      return true;
    }
    passed += here;
    return false;
  }
};

double rank_of(double q, std::uint64_t total) {
  return std::floor(std::clamp(q, 0.0, 1.0) * static_cast<double>(total - 1));
}

}  // namespace

std::size_t LogHistogram::bin_of(double value) {
  const int exponent = static_cast<int>((std::bit_cast<std::uint64_t>(value) >> 52) & 0x7FF) - 1023;
  return static_cast<std::size_t>(std::clamp(exponent + kBias, 0, static_cast<int>(kBins) - 1));
}

double LogHistogram::lower_edge(std::size_t bin) {
  return bin == 0 ? 0.0 : std::ldexp(1.0, static_cast<int>(bin) - kBias);
}

std::uint64_t LogHistogram::total() const {
  std::uint64_t sum = zeros;
  for (std::size_t bin = 0; bin < kBins; ++bin) sum += positive[bin] + negative[bin];
  return sum;
}

void LogHistogram::merge(const LogHistogram& other) {
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    positive[bin] += other.positive[bin];
    negative[bin] += other.negative[bin];
  }
  zeros += other.zeros;
}

double LogHistogram::quantile(double q) const {
  const std::uint64_t values = total();
  if (values == 0 || std::isnan(q)) return std::numeric_limits<double>::quiet_NaN();
  RankWalk walk{rank_of(q, values)};
  double fraction = 0;
  for (std::size_t bin = kBins; bin-- > 0;) {
    if (walk.next(negative[bin], fraction)) return -inside(bin, 1 - fraction);
  }
  if (walk.next(zeros, fraction)) return 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (walk.next(positive[bin], fraction)) return inside(bin, fraction);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double LogHistogram::magnitude_quantile(double q) const {
  LogHistogram folded;
  folded.zeros = zeros;
  for (std::size_t bin = 0; bin < kBins; ++bin) folded.positive[bin] = positive[bin] + negative[bin];
  return folded.quantile(q);
}

}  // namespace osler::stats
