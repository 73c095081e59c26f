// The learning rate of a recipe at a step.
#pragma once

#include <cstdint>

#include "osler/gallery/recipe.h"
#include "osler/torch/schedule.h"

namespace osler::trainer {

/// The schedule of a recipe, warm-up and all.
[[nodiscard]] torch::Schedule schedule_of(const gallery::Recipe& recipe);

}  // namespace osler::trainer
