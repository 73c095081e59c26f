// Cyclical rates: triangles, of the same height, halved each time, or shrinking at every step.
#include <cmath>

#include "osler/torch/schedule.h"
#include "torch/schedules/shape.h"

namespace osler::torch {
namespace {

const char* name_of(CycleMode mode) {
  switch (mode) {
    case CycleMode::triangular:
      return "triangular";
    case CycleMode::triangular_halved:
      return "triangular_halved";
    case CycleMode::exponential_range:
      return "exponential_range";
  }
  return "";
}

double height_at(const Cyclical& shape, std::int64_t step, std::int64_t cycle) {
  switch (shape.mode) {
    case CycleMode::triangular_halved:
      return std::pow(0.5, static_cast<double>(cycle));
    case CycleMode::exponential_range:
      return std::pow(shape.factor, static_cast<double>(step));
    case CycleMode::triangular:
      break;
  }
  return 1;
}

}  // namespace

Schedule cyclical(const Cyclical& asked) {
  require_steps("cyclical", "steps up", asked.up);
  require_steps("cyclical", "steps down", asked.down, 0);
  require_share("cyclical", "a low", asked.low);
  require_factor("cyclical", "a factor", asked.factor);
  Cyclical shape = asked;
  if (shape.down == 0) shape.down = shape.up;
  const std::string momentum =
      shape.momentum ? fmt::format("{}..{}", shape.momentum->low, shape.momentum->high) : "none";
  return {fmt::format("cyclical(up={}, down={}, low={}, {}, factor={}, momentum={})", shape.up, shape.down, shape.low,
                      name_of(shape.mode), shape.factor, momentum),
          [shape](std::int64_t step) {
            const std::int64_t length = shape.up + shape.down;
            const std::int64_t within = step % length;
            const double climbed = within <= shape.up
                                       ? static_cast<double>(within) / static_cast<double>(shape.up)
                                       : static_cast<double>(length - within) / static_cast<double>(shape.down);
            const double height = climbed * height_at(shape, step, step / length);
            ScheduledSetting setting;
            setting.rate = shape.low + (1 - shape.low) * height;
            if (shape.momentum) setting.momentum = along_line(shape.momentum->high, shape.momentum->low, height);
            return setting;
          }};
}

}  // namespace osler::torch
