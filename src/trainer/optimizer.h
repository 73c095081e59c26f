// The optimizer of a recipe.
#pragma once

#include <torch/optim/optimizer.h>

#include <memory>

#include "osler/gallery/recipe.h"
#include "trainer/network.h"

namespace osler::trainer {

[[nodiscard]] std::unique_ptr<::torch::optim::Optimizer> build_optimizer(const gallery::Recipe& recipe,
                                                                         const Network& network);
/// Sets the learning rate of every group.
void set_rate(::torch::optim::Optimizer& optimizer, double rate);

}  // namespace osler::trainer
