// Learning-rate schedules, as trainers use them.
#pragma once

#include "simulate/draft.h"

namespace osler::simulate {

/// The shapes of schedules.
enum class Schedule {
  constant,
  step_decay,  ///< divided by ten (or two to five) a few times
  cosine,
  linear,
  inverse_sqrt,
  exponential,
  one_cycle,
  warm_restarts,     ///< cosine that jumps back to its peak (SGDR)
  stable_then_decay  ///< constant, then a fast cooldown at the end (WSD)
};

/// A schedule as a factor of its peak for every row. `warmup` is the share of the rows that rise to the peak.
[[nodiscard]] Levels schedule_factors(Schedule schedule, const Axis& axis, double warmup, Random& random);
[[nodiscard]] Schedule any_schedule(Random& random);
/// A peak learning rate as people choose them.
[[nodiscard]] double any_peak_rate(Random& random);
/// `factors` times `peak`.
[[nodiscard]] Levels times(const Levels& factors, double peak);

}  // namespace osler::simulate
