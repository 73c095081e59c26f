// Linear warm-up before any schedule, and the pair that most trainings use.
#include "osler/torch/schedule.h"
#include "torch/schedules/shape.h"

namespace osler::torch {

Schedule warmup(const Warmup& shape, const Schedule& after) {
  require_steps("warmup", "steps", shape.steps, 0);
  require_share("warmup", "a start", shape.start);
  return {fmt::format("warmup(steps={}, start={}, {})", shape.steps, shape.start, after.description()),
          [shape, after](std::int64_t step) {
            if (step >= shape.steps) return after.at(step - shape.steps);
            ScheduledSetting setting = after.at(0);
            setting.rate *= along_line(shape.start, 1, static_cast<double>(step) / static_cast<double>(shape.steps));
            return setting;
          }};
}

Schedule warmup_cosine(const WarmupCosine& shape) {
  require_steps("warmup_cosine", "a warm-up", shape.warmup, 0);
  require_steps("warmup_cosine", "steps", shape.steps, shape.warmup + 1);
  return warmup({shape.warmup, shape.start}, cosine_decay({shape.steps - shape.warmup, shape.floor}));
}

}  // namespace osler::torch
