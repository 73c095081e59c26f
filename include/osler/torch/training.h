// Training: a model, its optimizer, its loss and its batches, as probes, the training loop and treatments see them.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>

namespace osler::torch {

/// What one step learns from.
struct Batch {
  at::Tensor inputs;
  at::Tensor targets;
};

/// A training as experiments see it. The model and the optimizer must outlive it.
struct Training {
  ::torch::nn::Module& model;
  ::torch::optim::Optimizer& optimizer;
  std::function<at::Tensor(const at::Tensor& inputs)> forward;  ///< of this model, in whatever mode it is
  std::function<at::Tensor(const at::Tensor& outputs, const at::Tensor& targets)> loss;  ///< a scalar
  std::function<Batch()> next_batch;             ///< training batches without end; an experiment draws a few
  std::function<Batch()> next_validation_batch;  ///< the same for validation; may be empty
  std::optional<std::int64_t> classes;           ///< of a classifier with class numbers as targets
  /// Puts weights and learning rate back to where the training began. May be empty: then an experiment that needs a
  /// fresh start lets LibTorch's layers draw their weights anew and keeps the present rate.
  std::function<void()> restart = {};

  [[nodiscard]] at::Tensor loss_of(const Batch& batch) const { return loss(forward(batch.inputs), batch.targets); }
};

/// How long an experiment may take, and how to end it early. When it is ended, everything is put back all the same and
/// its outcome is `stopped`.
struct Limits {
  double seconds = std::numeric_limits<double>::infinity();
  std::stop_token stop = {};
};

}  // namespace osler::torch
