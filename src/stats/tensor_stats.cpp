// What follows from the statistics of a tensor, and how those of two parts become one.
#include "osler/stats/tensor_stats.h"

#include <algorithm>
#include <cmath>

namespace osler::stats {

namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double TensorStats::variance() const {
  return finite_count() < 2 ? 0.0 : m2 / static_cast<double>(finite_count() - 1);
}

double TensorStats::std_dev() const {
  return std::sqrt(variance());
}

double TensorStats::l2() const {
  return std::sqrt(m2 + static_cast<double>(finite_count()) * mean * mean);
}

double TensorStats::abs_max() const {
  return finite_count() == 0 ? 0.0 : std::max(std::abs(min), std::abs(max));
}

double TensorStats::mean_abs() const {
  return finite_count() == 0 ? 0.0 : l1 / static_cast<double>(finite_count());
}

double TensorStats::zero_share() const {
  return share(zeros, finite_count());
}

double TensorStats::near_zero_share() const {
  return share(near_zeros, finite_count());
}

double TensorStats::saturated_share() const {
  return share(saturated_low + saturated_high, finite_count());
}

void TensorStats::append(const TensorStats& later) {
  const double before = static_cast<double>(finite_count());
  const double added = static_cast<double>(later.finite_count());
  if (first_nan == kNone && later.first_nan != kNone) first_nan = count + later.first_nan;
  if (first_inf == kNone && later.first_inf != kNone) first_inf = count + later.first_inf;
  count += later.count;
  nan_count += later.nan_count;
  inf_count += later.inf_count;
  zeros += later.zeros;
  near_zeros += later.near_zeros;
  saturated_low += later.saturated_low;
  saturated_high += later.saturated_high;
  if (added == 0) return;
  // Chan's parallel form of Welford's update: no difference of large sums.
  const double delta = later.mean - mean;
  mean = before == 0 ? later.mean : mean + delta * (added / (before + added));
  m2 += later.m2 + delta * delta * (before * added / (before + added));
  l1 += later.l1;
  min = std::min(min, later.min);
  max = std::max(max, later.max);
  smallest_nonzero = std::min(smallest_nonzero, later.smallest_nonzero);
}

}  // namespace osler::stats
