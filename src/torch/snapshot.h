// Snapshot: a training at one moment, to go back to.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <vector>

#include "torch/optimizer_state.h"
#include "torch/saved_state.h"

namespace osler::torch {

/// Deep copies of parameters, buffers, gradients, modes, optimizer and random states. The model and the optimizer must
/// outlive it, and the model keep its modules.
class Snapshot {
 public:
  Snapshot(::torch::nn::Module& model, ::torch::optim::Optimizer& optimizer);
  /// Puts everything back, in the same tensors; may be called again.
  void restore() const;

 private:
  struct Kept {
    at::Tensor tensor;    // the model's own
    at::Tensor place;     // the memory it had
    at::Tensor value;     // a copy of that memory
    at::Tensor gradient;  // its own gradient, which may be undefined
    at::Tensor gradient_value;
    bool requires_grad = false;
  };

  void keep(const at::Tensor& tensor);
  static void put_back(const Kept& kept);

  ::torch::optim::Optimizer& optimizer_;
  std::vector<Kept> tensors_;
  ModuleModes modes_;
  OptimizerState optimizer_state_;
  RandomState random_;
};

}  // namespace osler::torch
