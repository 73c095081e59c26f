// Schedules of the gallery's recipes.
#include "trainer/rate.h"

#include <algorithm>
#include <cmath>

namespace osler::trainer {

using torch::Schedule;
namespace {

Schedule without_warmup(const gallery::Recipe& recipe) {
  const auto steps = std::max<std::int64_t>(
      1, std::llround(recipe.schedule_length * static_cast<double>(recipe.steps - recipe.warmup_steps)));
  const double floor = recipe.lr > 0 ? std::min(1.0, recipe.min_lr / recipe.lr) : 0;
  switch (recipe.schedule) {
    case gallery::Schedule::constant:
      break;
    case gallery::Schedule::cosine:
      return torch::cosine_decay({.steps = steps, .floor = floor});
    case gallery::Schedule::step:
      return torch::step_decay({.every = std::max<std::int64_t>(1, steps / 3)});
    case gallery::Schedule::exponential:
      return torch::exponential_decay({.factor = std::pow(1e-3, 1.0 / static_cast<double>(steps))});
    case gallery::Schedule::one_cycle:
      return torch::one_cycle({.steps = steps, .momentum = std::nullopt});
    case gallery::Schedule::inverse_sqrt:
      return torch::inverse_square_root_decay({.timescale = std::max<std::int64_t>(1, steps / 30)});
  }
  return {};
}

}  // namespace

Schedule schedule_of(const gallery::Recipe& recipe) {
  if (recipe.warmup_steps <= 0) return without_warmup(recipe);
  const double start = 1 / static_cast<double>(recipe.warmup_steps);
  return torch::warmup({.steps = recipe.warmup_steps, .start = start}, without_warmup(recipe));
}

}  // namespace osler::trainer
