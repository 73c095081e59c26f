// Schedules that only fall: in steps, exponentially, by a power, by the inverse square root.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "osler/torch/schedule.h"
#include "torch/schedules/shape.h"

namespace osler::torch {

Schedule step_decay(const StepDecay& shape) {
  require_steps("step_decay", "every", shape.every);
  require_factor("step_decay", "a factor", shape.factor);
  return {fmt::format("step_decay(every={}, factor={})", shape.every, shape.factor), [shape](std::int64_t step) {
            const auto decays = static_cast<double>(step / shape.every);
            return ScheduledSetting{std::pow(shape.factor, decays), std::nullopt};
          }};
}

Schedule multi_step_decay(const MultiStepDecay& shape) {
  require_factor("multi_step_decay", "a factor", shape.factor);
  if (!std::is_sorted(shape.milestones.begin(), shape.milestones.end())) {
    throw std::invalid_argument("osler: multi_step_decay needs its milestones in ascending order");
  }
  return {fmt::format("multi_step_decay(milestones={}, factor={})", fmt::join(shape.milestones, " "), shape.factor),
          [shape](std::int64_t step) {
            const auto& at = shape.milestones;
            const auto passed = std::upper_bound(at.begin(), at.end(), step) - at.begin();
            return ScheduledSetting{std::pow(shape.factor, static_cast<double>(passed)), std::nullopt};
          }};
}

Schedule exponential_decay(const ExponentialDecay& shape) {
  require_factor("exponential_decay", "a factor", shape.factor);
  return {fmt::format("exponential_decay(factor={})", shape.factor), [shape](std::int64_t step) {
            return ScheduledSetting{std::pow(shape.factor, static_cast<double>(step)), std::nullopt};
          }};
}

Schedule polynomial_decay(const PolynomialDecay& shape) {
  require_steps("polynomial_decay", "steps", shape.steps);
  require_factor("polynomial_decay", "a power", shape.power);
  require_share("polynomial_decay", "a floor", shape.floor);
  return {fmt::format("polynomial_decay(steps={}, power={}, floor={})", shape.steps, shape.power, shape.floor),
          [shape](std::int64_t step) {
            const auto left = static_cast<double>(shape.steps - std::min(step, shape.steps));
            const double share = std::pow(left / static_cast<double>(shape.steps), shape.power);
            return ScheduledSetting{shape.floor + (1 - shape.floor) * share, std::nullopt};
          }};
}

Schedule inverse_square_root_decay(const InverseSquareRootDecay& shape) {
  require_steps("inverse_square_root_decay", "a timescale", shape.timescale);
  return {fmt::format("inverse_square_root_decay(timescale={})", shape.timescale), [shape](std::int64_t step) {
            const auto scale = static_cast<double>(shape.timescale);
            return ScheduledSetting{std::sqrt(scale / (scale + static_cast<double>(step))), std::nullopt};
          }};
}

}  // namespace osler::torch
