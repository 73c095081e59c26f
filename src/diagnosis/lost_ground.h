// lost_ground: whether a training has got worse than it was, and not merely no better.
#pragma once

#include "osler/run/run.h"

namespace osler {

/// Whether the newest values of the series are clearly worse than its first ones, or give back most of a clear gain.
/// Positive values are compared by their logarithms: a loss that ran away scatters as far as it went. False of a series
/// that stands still: a training may begin to learn late, after a warm-up or with the first reward it meets.
[[nodiscard]] bool lost_ground(const Series& series, bool higher_is_better);

}  // namespace osler
