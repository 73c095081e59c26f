// The specification of every statistic: scalar, slow, and plain enough to be read as a definition. The SIMD kernels are
// tested against it on every instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "osler/stats/log_histogram.h"
#include "osler/stats/pair_stats.h"
#include "osler/stats/row_similarity.h"
#include "osler/stats/tensor_stats.h"
#include "osler/stats/tensor_view.h"
#include "osler/stats/unit_activity.h"
#include "stats/dtype.h"

namespace osler::stats::reference {

/// The coordinates of the element with a row-major index.
inline std::vector<std::int64_t> coordinates(const TensorView& tensor, std::uint64_t index) {
  std::vector<std::int64_t> at(tensor.sizes().size());
  for (std::size_t i = at.size(); i-- > 0;) {
    const std::uint64_t size = static_cast<std::uint64_t>(tensor.sizes()[i]);
    at[i] = static_cast<std::int64_t>(index % size);
    index /= size;
  }
  return at;
}

/// The element with a row-major index, exactly.
inline double element(const TensorView& tensor, std::uint64_t index) {
  const std::vector<std::int64_t> at = coordinates(tensor, index);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < at.size(); ++i) offset += at[i] * tensor.strides()[i];
  const std::int64_t bytes = static_cast<std::int64_t>(element_bytes(tensor.dtype()));
  return load_element(static_cast<const std::byte*>(tensor.data()) + offset * bytes, tensor.dtype());
}

inline TensorStats summarize(const TensorView& tensor, const SummaryOptions& options) {
  TensorStats stats;
  long double sum = 0;
  long double sum_of_magnitudes = 0;
  for (std::uint64_t i = 0; i < tensor.count(); ++i) {
    const double x = element(tensor, i);
    ++stats.count;
    if (std::isnan(x)) {
      if (stats.nan_count++ == 0) stats.first_nan = i;
      continue;
    }
    if (std::isinf(x)) {
      if (stats.inf_count++ == 0) stats.first_inf = i;
      continue;
    }
    const double magnitude = std::abs(x);
    sum += x;
    sum_of_magnitudes += magnitude;
    stats.min = std::min(stats.min, x);
    stats.max = std::max(stats.max, x);
    if (magnitude > 0) stats.smallest_nonzero = std::min(stats.smallest_nonzero, magnitude);
    if (magnitude == 0) ++stats.zeros;
    if (magnitude <= options.near_zero) ++stats.near_zeros;
    if (x <= options.low) ++stats.saturated_low;
    if (x >= options.high) ++stats.saturated_high;
  }
  if (stats.finite_count() == 0) return stats;
  const long double mean = sum / static_cast<long double>(stats.finite_count());
  long double m2 = 0;
  for (std::uint64_t i = 0; i < tensor.count(); ++i) {
    const double x = element(tensor, i);
    if (std::isfinite(x)) m2 += (x - mean) * (x - mean);
  }
  stats.mean = static_cast<double>(mean);
  stats.m2 = stats.min == stats.max ? 0.0 : static_cast<double>(m2);
  stats.l1 = static_cast<double>(sum_of_magnitudes);
  return stats;
}

inline LogHistogram histogram(const TensorView& tensor) {
  LogHistogram counts;
  for (std::uint64_t i = 0; i < tensor.count(); ++i) {
    const double x = element(tensor, i);
    if (!std::isfinite(x)) continue;
    if (x == 0) {
      ++counts.zeros;
      continue;
    }
    const int bin = std::clamp(std::ilogb(x) + 127, 0, 255);
    ++(x < 0 ? counts.negative : counts.positive)[static_cast<std::size_t>(bin)];
  }
  return counts;
}

/// Half the distance between neighbouring numbers of a type in the octave of `x`.
inline double half_spacing(double x, DType dtype) {
  int digits = 0;           // of the significand, the leading one included
  int smallest_normal = 0;  // its exponent: below it the spacing stays the same
  switch (dtype) {
    case DType::f32:
      digits = 24, smallest_normal = -126;
      break;
    case DType::f64:
      digits = 53, smallest_normal = -1022;
      break;
    case DType::f16:
      digits = 11, smallest_normal = -14;
      break;
    case DType::bf16:
      digits = 8, smallest_normal = -126;
      break;
  }
  const int exponent = x == 0 ? smallest_normal : std::max(std::ilogb(x), smallest_normal);
  return std::ldexp(1.0, exponent - digits);
}

inline PairStats compare(const TensorView& a, const TensorView& b) {
  PairStats stats;
  long double dot = 0, a_squared = 0, b_squared = 0, difference_squared = 0;
  for (std::uint64_t i = 0; i < a.count(); ++i) {
    const double x = element(a, i);
    const double y = element(b, i);
    ++stats.count;
    if (!std::isfinite(x) || !std::isfinite(y)) {
      ++stats.excluded;
      continue;
    }
    dot += static_cast<long double>(x) * y;
    a_squared += static_cast<long double>(x) * x;
    b_squared += static_cast<long double>(y) * y;
    difference_squared += (static_cast<long double>(y) - x) * (static_cast<long double>(y) - x);
    if (y != 0) {
      ++stats.b_nonzero;
      if (std::abs(y) < half_spacing(x, a.dtype())) ++stats.below_resolution;
    }
  }
  stats.dot = static_cast<double>(dot);
  stats.a_squared = static_cast<double>(a_squared);
  stats.b_squared = static_cast<double>(b_squared);
  stats.difference_squared = static_cast<double>(difference_squared);
  return stats;
}

inline UnitActivity count_units(const TensorView& tensor, std::size_t axis, double threshold) {
  UnitActivity activity;
  activity.active.resize(static_cast<std::size_t>(tensor.sizes()[axis]));
  if (!activity.active.empty()) activity.places = tensor.count() / activity.active.size();
  for (std::uint64_t i = 0; i < tensor.count(); ++i) {
    const double magnitude = std::abs(element(tensor, i));
    const auto unit = static_cast<std::size_t>(coordinates(tensor, i)[axis]);
    if (!(magnitude <= threshold)) ++activity.active[unit];
  }
  return activity;
}

inline RowSimilarity compare_rows(const TensorView& tensor) {
  RowSimilarity result;
  result.rows = static_cast<std::uint64_t>(tensor.sizes()[0]);
  result.features = result.rows == 0 ? 0 : tensor.count() / result.rows;
  std::vector<std::vector<long double>> rows;
  for (std::uint64_t r = 0; r < result.rows; ++r) {
    std::vector<long double> row;
    for (std::uint64_t f = 0; f < result.features; ++f) row.push_back(element(tensor, r * result.features + f));
    const bool finite = std::all_of(row.begin(), row.end(), [](long double x) { return std::isfinite(x); });
    finite ? rows.push_back(row) : void(++result.nonfinite_rows);
  }
  std::vector<long double> mean(result.features);
  long double squares = 0;
  for (auto& row : rows) {
    for (std::size_t f = 0; f < row.size(); ++f) {
      mean[f] += row[f] / static_cast<long double>(rows.size());
      squares += row[f] * row[f];
    }
  }
  long double distances = 0;
  for (auto& row : rows) {
    for (std::size_t f = 0; f < row.size(); ++f) distances += (row[f] - mean[f]) * (row[f] - mean[f]);
  }
  if (squares > 0) result.spread = static_cast<double>(distances / squares);
  long double cosines = 0;
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    long double ii = 0;
    for (const long double x : rows[i]) ii += x * x;
    if (ii == 0) {
      ++result.zero_rows;
      continue;
    }
    for (std::size_t j = 0; j < i; ++j) {
      long double ij = 0, jj = 0;
      for (std::size_t f = 0; f < rows[i].size(); ++f) ij += rows[i][f] * rows[j][f], jj += rows[j][f] * rows[j][f];
      if (jj == 0) continue;
      cosines += ij / std::sqrt(ii * jj);
      ++pairs;
    }
  }
  if (pairs > 0) result.mean_cosine = static_cast<double>(cosines / static_cast<long double>(pairs));
  return result;
}

}  // namespace osler::stats::reference
