// Climbing a little before each step.
#include "osler/torch/sam.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "osler/torch/clip.h"

namespace osler::torch {

Sam::Sam(::torch::optim::Optimizer& optimizer, double radius) : optimizer_(optimizer), radius_(radius) {
  if (!(radius > 0) || !std::isfinite(radius)) {
    throw std::invalid_argument(fmt::format("osler: radius is {:.6g}: write a length above 0, such as 0.05", radius));
  }
}

Sam::~Sam() {
  descend();
}

bool Sam::climb() {
  descend();
  std::vector<at::Tensor> parameters;
  for (const auto& group : optimizer_.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (parameter.grad().defined() && !parameter.grad().is_sparse()) parameters.push_back(parameter);
    }
  }
  const double norm = gradient_norm(parameters);
  if (!std::isfinite(norm) || norm == 0) return false;
  const at::NoGradGuard no_graph;
  for (at::Tensor& parameter : parameters) {
    before_.emplace_back(parameter, parameter.detach().clone());
    parameter.add_(parameter.grad(), radius_ / norm);
  }
  return true;
}

void Sam::descend() {
  const at::NoGradGuard no_graph;
  for (auto& [parameter, before] : before_) parameter.copy_(before);
  before_.clear();
}

at::Tensor Sam::step(const std::function<at::Tensor()>& compute_loss) {
  optimizer_.zero_grad();
  const at::Tensor loss = compute_loss();
  loss.backward();
  if (climb()) {
    optimizer_.zero_grad();
    compute_loss().backward();
    descend();
  }
  optimizer_.step();
  return loss.detach();
}

}  // namespace osler::torch
