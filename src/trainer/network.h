// The networks of the gallery, built as a recipe says.
#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "osler/gallery/recipe.h"
#include "trainer/data.h"

namespace osler::trainer {

/// A network with a forward pass from inputs to outputs: logits, or numbers.
class Network : public ::torch::nn::Module {
 public:
  virtual at::Tensor forward(at::Tensor inputs) = 0;
};

/// Builds and initialises the network of a recipe for its data.
[[nodiscard]] std::shared_ptr<Network> build_network(const gallery::Recipe& recipe, const TaskData& data);

}  // namespace osler::trainer
