// The data of a training, made from its recipe.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "recipe.h"

namespace osler::population {

/// Inputs and what is to be told of them; labels are ids, or targets as numbers.
struct Samples {
  at::Tensor inputs;
  at::Tensor labels;
};

/// What a training sees, what its log is validated on, and what it is judged on.
struct Data {
  Samples training;
  Samples validation;
  Samples clean;
};

/// Makes the data; the same seed gives the same samples whatever faults the recipe has.
Data make_data(const Recipe& recipe);

}  // namespace osler::population
