// Sam: sharpness-aware minimisation around any optimizer.
#pragma once

#include <ATen/ATen.h>
#include <torch/optim/optimizer.h>

#include <functional>
#include <utility>
#include <vector>

namespace osler::torch {

/// Sharpness-aware minimisation (Foret et al. 2021): the gradient is taken not where the weights are but a little way
/// uphill, and the optimizer steps with it from where they were. So the worst loss nearby is lowered, which leads to
/// flat places. A step costs two forward and two backward passes.
///
///     osler::torch::Sam sam(optimizer);
///     ...
///     loss.backward();
///     if (monitor.step(loss)) {
///       sam.climb();
///       optimizer.zero_grad();
///       loss_of(model->forward(x), y).backward();
///       sam.descend();
///       optimizer.step();
///     }
///
/// Layers with running statistics see both passes. The optimizer must outlive it.
class Sam {
 public:
  /// `radius`: the length of the way uphill, over all weights together; 0.05 is usual. Throws std::invalid_argument
  /// when it is not above 0.
  explicit Sam(::torch::optim::Optimizer& optimizer, double radius = 0.05);
  /// Puts the weights back, if they are still uphill.
  ~Sam();
  Sam(const Sam&) = delete;
  Sam& operator=(const Sam&) = delete;

  /// Moves the weights uphill along their gradients. False, and nothing is moved, when all are zero or one is not
  /// finite: there is no direction.
  bool climb();
  /// Puts the weights back, bit for bit.
  void descend();
  /// A whole step, with the optimizer's: `compute_loss` is called twice, and gradients are cleared before each. Returns
  /// the loss where the weights were.
  at::Tensor step(const std::function<at::Tensor()>& compute_loss);

 private:
  ::torch::optim::Optimizer& optimizer_;
  double radius_;
  std::vector<std::pair<at::Tensor, at::Tensor>> before_;  // a parameter and what it was
};

}  // namespace osler::torch
