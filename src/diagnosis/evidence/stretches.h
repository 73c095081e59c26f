// Stretches: a noisy curve in a few parts of equal length, each with its level and how sure that level is.
#pragma once

#include <cstddef>
#include <vector>

#include "diagnosis/reading.h"

namespace osler {

/// One part of a curve.
struct Stretch {
  std::size_t first = 0;  ///< index of its first point
  std::size_t last = 0;   ///< one past its last point
  double level = 0;       ///< mean of its values, wild ones tamed
  double error = 0;       ///< standard error of the level, corrected for autocorrelation
};

/// A curve in stretches. Lower is better, as in every reading.
struct Stretches {
  std::vector<Stretch> all;
  double scatter = 0;  ///< standard deviation of single values about the level of their stretch

  [[nodiscard]] const Stretch& first() const { return all.front(); }
  [[nodiscard]] const Stretch& last() const { return all.back(); }
  [[nodiscard]] std::size_t best() const;   ///< index of the lowest stretch
  [[nodiscard]] std::size_t worst() const;  ///< index of the highest stretch
  /// The levels from index `from` on as one stretch.
  [[nodiscard]] Stretch joined(std::size_t from) const;
};

/// Cuts a reading into at most `most` stretches of at least three points. Empty for fewer than six points.
[[nodiscard]] Stretches stretches_of(const Reading& reading, std::size_t most = 12);

/// How far `later` lies below `earlier`, in standard errors of the difference. Positive is progress.
[[nodiscard]] double errors_gained(const Stretch& earlier, const Stretch& later);

}  // namespace osler
