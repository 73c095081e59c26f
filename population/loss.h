// Losses and metrics, the right ones and the mistaken ones.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "recipe.h"

namespace osler::population {

/// The loss that is trained on and logged, with the recipe's faults.
at::Tensor trained_loss(const Recipe& recipe, const at::Tensor& outputs, const at::Tensor& labels);
/// The loss as it should be, without smoothing: what a run is judged by. Always a mean.
at::Tensor true_loss(const Recipe& recipe, const at::Tensor& outputs, const at::Tensor& labels);
/// The loss that an evaluation logs: the trained one's form, without smoothing.
at::Tensor evaluated_loss(const Recipe& recipe, const at::Tensor& outputs, const at::Tensor& labels);
/// The metric of the recipe; NaN where it has none. Perplexity follows from the loss.
double metric_of(const Recipe& recipe, const at::Tensor& outputs, const at::Tensor& labels);

}  // namespace osler::population
