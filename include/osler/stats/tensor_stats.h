// TensorStats: everything measured of one tensor in one pass over its memory.
#pragma once

#include <cstdint>
#include <limits>

namespace osler::stats {

/// What to measure beyond the fixed set, and the thresholds to count against.
struct SummaryOptions {
  double near_zero = 1e-7;  ///< magnitudes up to this count as near zero; 1e-7 is what vanishing-gradient checks use
  double low = -std::numeric_limits<double>::infinity();  ///< values down here or below count as saturated low
  double high = std::numeric_limits<double>::infinity();  ///< values up here or above count as saturated high
  bool histogram = false;                                 ///< also count signs and exponents
  /// Leave out what takes time and few ask for: l1 may stay 0, smallest_nonzero infinite, and min and max may tell the
  /// largest magnitude with either sign. Without a histogram only.
  bool brief = false;

  friend bool operator==(const SummaryOptions&, const SummaryOptions&) = default;
};

/// The statistics of the finite elements of a tensor, and where it is not finite.
///
/// Counts, extrema and indices are exact. Against exact arithmetic, with n finite elements, blocks = n / 4096 and
/// r = sqrt(m2 / n): f64 has l1 and m2 within 1e-12 relative and the mean within 1e-13 (r + |mean|); the other types,
/// summed in single precision by sixteens, have l1 within 1e-6 and m2 within 1e-5 relative and the mean within
/// 2e-6 r + 1e-13 |mean|; beyond 2^30 elements the bounds grow by 2e-16 for each further block. A tensor of equal
/// elements has m2 == 0. The squares of f64 magnitudes beyond 1e150 overflow to infinity, those below 1e-150 vanish.
/// The result does not depend on the number of threads.
struct TensorStats {
  /// The index of the first NaN or infinity when there is none.
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t count = 0;          ///< all elements
  std::uint64_t nan_count = 0;      ///< of them not a number
  std::uint64_t inf_count = 0;      ///< of them infinite, either sign
  std::uint64_t first_nan = kNone;  ///< row-major index of the first NaN
  std::uint64_t first_inf = kNone;  ///< row-major index of the first infinity

  double mean = 0;
  double m2 = 0;                                                      ///< sum of squared deviations from the mean
  double l1 = 0;                                                      ///< sum of magnitudes
  double min = std::numeric_limits<double>::infinity();               ///< +infinity when nothing is finite
  double max = -std::numeric_limits<double>::infinity();              ///< -infinity when nothing is finite
  double smallest_nonzero = std::numeric_limits<double>::infinity();  ///< magnitude; +infinity when all are zero

  std::uint64_t zeros = 0;       ///< exactly zero, either sign
  std::uint64_t near_zeros = 0;  ///< magnitude at most SummaryOptions::near_zero, zeros included
  std::uint64_t saturated_low = 0;
  std::uint64_t saturated_high = 0;

  [[nodiscard]] std::uint64_t finite_count() const { return count - nan_count - inf_count; }
  /// The sample variance (n - 1 in the denominator), 0 for fewer than two finite elements.
  [[nodiscard]] double variance() const;
  /// The sample standard deviation.
  [[nodiscard]] double std_dev() const;
  /// The square root of the sum of squares.
  [[nodiscard]] double l2() const;
  /// The largest magnitude, 0 when nothing is finite.
  [[nodiscard]] double abs_max() const;
  /// The mean magnitude, 0 when nothing is finite.
  [[nodiscard]] double mean_abs() const;
  /// The share of the finite elements that are exactly zero.
  [[nodiscard]] double zero_share() const;
  /// The share of the finite elements that are near zero.
  [[nodiscard]] double near_zero_share() const;
  /// The share of the finite elements at or beyond either saturation threshold.
  [[nodiscard]] double saturated_share() const;

  /// Adds the elements of `later`, which come after these: its indices are moved up by `count`.
  void append(const TensorStats& later);

  friend bool operator==(const TensorStats&, const TensorStats&) = default;
};

}  // namespace osler::stats
