// The one-cycle schedule, with momentum against the rate.
#include <algorithm>
#include <vector>

#include "osler/torch/schedule.h"
#include "torch/schedules/shape.h"

namespace osler::torch {
namespace {

/// A stretch of the cycle from where the one before ended.
struct Phase {
  double end = 0;  // the step at which it is over; not always a whole number
  double rate_from = 0;
  double rate_to = 0;
  bool rises = false;  // then momentum falls
  bool still = false;  // momentum stays high
};

std::vector<Phase> phases_of(const OneCycle& shape) {
  const auto steps = static_cast<double>(shape.steps);
  const double peak = shape.rise * steps - 1;
  if (!shape.three_phases) {
    return {{peak, shape.start, 1, true, false}, {steps - 1, 1, shape.end, false, false}};
  }
  return {{peak, shape.start, 1, true, false},
          {2 * shape.rise * steps - 2, 1, shape.start, false, false},
          {steps - 1, shape.start, shape.end, false, true}};
}

double momentum_at(const MomentumCycle& cycle, const Phase& phase, double share, bool linear) {
  if (phase.still) return cycle.high;
  const double from = phase.rises ? cycle.high : cycle.low;
  const double to = phase.rises ? cycle.low : cycle.high;
  return linear ? along_line(from, to, share) : along_cosine(from, to, share);
}

}  // namespace

Schedule one_cycle(const OneCycle& shape) {
  require_steps("one_cycle", "steps", shape.steps, 2);
  require_share("one_cycle", "a rise", shape.rise);
  require_factor("one_cycle", "a start", shape.start);
  require_factor("one_cycle", "an end", shape.end);
  if (shape.three_phases && shape.rise > 0.5) {
    throw std::invalid_argument(
        fmt::format("osler: one_cycle rises and falls equally long in three phases, so its rise is at most "
                    "0.5 of the steps, not {}",
                    shape.rise));
  }
  const std::string momentum =
      shape.momentum ? fmt::format("{}..{}", shape.momentum->low, shape.momentum->high) : "none";
  return {
      fmt::format("one_cycle(steps={}, rise={}, start={}, end={}, {}, phases={}, momentum={})", shape.steps, shape.rise,
                  shape.start, shape.end, shape.linear ? "linear" : "cosine", shape.three_phases ? 3 : 2, momentum),
      [shape, phases = phases_of(shape)](std::int64_t step) {
        const auto at = static_cast<double>(std::min(step, shape.steps - 1));
        std::size_t i = 0;
        while (i + 1 < phases.size() && at > phases[i].end) ++i;
        const double begin = i == 0 ? 0 : phases[i - 1].end;
        const double length = phases[i].end - begin;
        const double share = length > 0 ? (at - begin) / length : 1;
        ScheduledSetting setting;
        setting.rate = shape.linear ? along_line(phases[i].rate_from, phases[i].rate_to, share)
                                    : along_cosine(phases[i].rate_from, phases[i].rate_to, share);
        if (shape.momentum) setting.momentum = momentum_at(*shape.momentum, phases[i], share, shape.linear);
        return setting;
      }};
}

}  // namespace osler::torch
