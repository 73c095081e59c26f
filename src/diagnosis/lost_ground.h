// ground_of: whether a training has got worse than it was, and not merely no better.
#pragma once

#include "osler/run/run.h"

namespace osler {

/// Where a training stands beside where it was.
enum class Ground {
  kept,         ///< no worse than it was, or not clearly so
  above_start,  ///< clearly worse than its first values, with no clear gain before: it may be raised by design
  gain_lost     ///< it had learned, and has given back most of that, or more
};

/// Where the newest values of the series stand beside its first and its best. Positive values are compared by their
/// logarithms: a loss that ran away scatters as far as it went. `kept` of a series that stands still: a training may
/// begin to learn late, after a warm-up or with the first reward it meets.
[[nodiscard]] Ground ground_of(const Series& series, bool higher_is_better);

}  // namespace osler
