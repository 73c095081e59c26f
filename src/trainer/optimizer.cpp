// Building optimizers by recipe.
#include "trainer/optimizer.h"

#include <torch/optim.h>

#include <utility>
#include <vector>

namespace osler::trainer {

std::unique_ptr<::torch::optim::Optimizer> build_optimizer(const gallery::Recipe& recipe, const Network& network) {
  namespace optim = ::torch::optim;
  std::vector<at::Tensor> parameters;
  for (const auto& parameter : network.named_parameters()) {
    const bool left_out = !recipe.all_optimized && parameter.key().rfind("head", 0) == 0;
    if (parameter.value().requires_grad() && !left_out) parameters.push_back(parameter.value());
  }
  const double decay = recipe.weight_decay;
  switch (recipe.optimizer) {
    case gallery::Optimizer::sgd:
      return std::make_unique<optim::SGD>(std::move(parameters), optim::SGDOptions(recipe.lr).weight_decay(decay));
    case gallery::Optimizer::momentum:
      return std::make_unique<optim::SGD>(std::move(parameters),
                                          optim::SGDOptions(recipe.lr).momentum(recipe.momentum).weight_decay(decay));
    case gallery::Optimizer::adam:
      return std::make_unique<optim::Adam>(std::move(parameters), optim::AdamOptions(recipe.lr).weight_decay(decay));
    case gallery::Optimizer::adamw:
      return std::make_unique<optim::AdamW>(std::move(parameters), optim::AdamWOptions(recipe.lr).weight_decay(decay));
    case gallery::Optimizer::rmsprop:
      return std::make_unique<optim::RMSprop>(std::move(parameters),
                                              optim::RMSpropOptions(recipe.lr).weight_decay(decay));
  }
  return nullptr;
}

void set_rate(::torch::optim::Optimizer& optimizer, double rate) {
  for (auto& group : optimizer.param_groups()) group.options().set_lr(rate);
}

}  // namespace osler::trainer
