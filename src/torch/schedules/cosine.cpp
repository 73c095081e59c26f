// Schedules along the cosine: one descent, warm restarts.
#include <algorithm>

#include "osler/torch/schedule.h"
#include "torch/schedules/shape.h"

namespace osler::torch {

Schedule cosine_decay(const CosineDecay& shape) {
  require_steps("cosine_decay", "steps", shape.steps);
  require_share("cosine_decay", "a floor", shape.floor);
  return {fmt::format("cosine_decay(steps={}, floor={})", shape.steps, shape.floor), [shape](std::int64_t step) {
            const double share = static_cast<double>(std::min(step, shape.steps)) / static_cast<double>(shape.steps);
            return ScheduledSetting{along_cosine(1, shape.floor, share), std::nullopt};
          }};
}

Schedule cosine_restarts(const CosineRestarts& shape) {
  require_steps("cosine_restarts", "a first descent", shape.first);
  require_steps("cosine_restarts", "a stretch", shape.stretch);
  require_share("cosine_restarts", "a floor", shape.floor);
  return {fmt::format("cosine_restarts(first={}, stretch={}, floor={})", shape.first, shape.stretch, shape.floor),
          [shape](std::int64_t step) {
            // In floating point, where a descent may become as long as it likes.
            auto length = static_cast<double>(shape.first);
            auto within = static_cast<double>(shape.stretch == 1 ? step % shape.first : step);
            while (within >= length) {
              within -= length;
              length *= static_cast<double>(shape.stretch);
            }
            return ScheduledSetting{along_cosine(1, shape.floor, within / length), std::nullopt};
          }};
}

}  // namespace osler::torch
