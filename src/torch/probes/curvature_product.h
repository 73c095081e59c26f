// HessianProduct: the Hessian of a loss times a vector, exactly where every operation can be differentiated twice.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "torch/probes/surface_loss.h"

namespace osler::torch {

/// Products with the Hessian of the mean loss at the weights' origin.
class HessianProduct {
 public:
  /// Tries one exact product and falls back to differences of gradients when an operation has no second derivative
  /// (fused recurrent layers); with `differences` it does so at once.
  HessianProduct(SurfaceLoss& surface, bool differences);

  [[nodiscard]] at::Tensor operator()(const at::Tensor& direction);

  [[nodiscard]] bool exact() const { return exact_; }
  /// Why products are not exact, in LibTorch's words; empty when they are or nobody wanted them to be.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// The gradient of each batch.
  [[nodiscard]] const std::vector<at::Tensor>& gradients() const { return gradients_; }
  /// The mean of these.
  [[nodiscard]] at::Tensor gradient() const;

 private:
  [[nodiscard]] at::Tensor exact_product(const at::Tensor& direction) const;
  [[nodiscard]] at::Tensor difference_product(const at::Tensor& direction);

  SurfaceLoss& surface_;
  std::vector<at::Tensor> gradients_;
  std::vector<at::Tensor> graphs_;  // the same with their graphs
  bool exact_ = true;
  std::string why_not_;
  double reach_ = 0;  // how far the weights are moved for a difference
};

}  // namespace osler::torch
