// Repetition: ups and downs that look like noise and come back in the same order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace osler::signal {

/// A stretch of a curve that repeats itself.
struct Repetition {
  std::size_t period = 0;  ///< in points
  double likeness = 0;     ///< rank correlation of the changes with those one period earlier: 1 when it is exact
};

/// What counts as a repetition.
struct RepetitionOptions {
  std::size_t shortest = 8;  ///< points that a period must hold
  std::size_t repeats = 4;   ///< periods that must fit into the values
  double likeness = 0.6;     ///< one period apart, and nearly so at two
  double errors = 4.5;       ///< standard errors (1 / sqrt of the pairs) it must have one period apart
  double roughness = 0.5;    ///< the likeness at every distance up to half a period must stay below this: no wave
  double apart = 0.35;       ///< or lie so far below that of the whole period
};

/// The shortest period after which the changes from point to point come back. Ranks of the changes are compared, so
/// that neither a trend nor a few leaps make a repetition. A smooth wave or a zigzag is none: its changes resemble
/// each other within the period. Takes time with the square of the number of values, so it is for curves, whose length
/// is bounded.
[[nodiscard]] std::optional<Repetition> repetition_of(std::span<const double> values,
                                                      const RepetitionOptions& options = {});

}  // namespace osler::signal
