// LogHistogram: how many elements have which sign and binary exponent, from which quantiles follow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace osler::stats {

/// Exact counts of finite values in fixed bins of one octave each. Two histograms add up bin by bin, so layers, steps
/// and ranks can be merged. Bin b holds magnitudes in [2^(b-127), 2^(b-126)); bin 0 everything non-zero below 2^-126,
/// bin 255 everything from 2^128 up (only f64 reaches it).
struct LogHistogram {
  static constexpr std::size_t kBins = 256;

  std::array<std::uint64_t, kBins> positive{};
  std::array<std::uint64_t, kBins> negative{};
  std::uint64_t zeros = 0;

  /// The bin of a finite non-zero value, by its magnitude.
  [[nodiscard]] static std::size_t bin_of(double value);
  /// The smallest magnitude of a bin; 0 for bin 0.
  [[nodiscard]] static double lower_edge(std::size_t bin);

  /// The number of values counted.
  [[nodiscard]] std::uint64_t total() const;
  void merge(const LogHistogram& other);

  /// The q-quantile (q in 0..1) of the values. It lies in the bin of the true one, so it has its sign and is off by
  /// less than a factor of two above 2^-126; NaN when nothing was counted.
  [[nodiscard]] double quantile(double q) const;
  /// The q-quantile of the magnitudes, with the same accuracy.
  [[nodiscard]] double magnitude_quantile(double q) const;

  friend bool operator==(const LogHistogram&, const LogHistogram&) = default;
};

}  // namespace osler::stats
