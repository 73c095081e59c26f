// SavedState: what a forward and backward pass changes beside the loss, to be put back afterwards.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <utility>
#include <vector>

namespace osler::torch {

/// The states of the random number generators that a model on these devices draws from.
class RandomState {
 public:
  /// Reads the generators of the host and of the devices of the model's parameters.
  static RandomState now(const std::vector<at::Tensor>& parameters);
  void restore() const;

 private:
  std::vector<std::pair<at::Device, at::Tensor>> states_;
};

/// Copies of the buffers of a model (running statistics): few numbers beside the parameters.
class BufferState {
 public:
  /// Copies the buffers into memory that is kept from call to call.
  void save(const std::vector<at::Tensor>& buffers);
  void restore(const std::vector<at::Tensor>& buffers) const;
  [[nodiscard]] bool empty() const { return copies_.empty(); }

 private:
  std::vector<at::Tensor> copies_;
};

/// Takes the gradients off the parameters, and puts them back when it is destroyed.
class GradientsAside {
 public:
  explicit GradientsAside(std::vector<at::Tensor> parameters);
  ~GradientsAside();
  GradientsAside(const GradientsAside&) = delete;
  GradientsAside& operator=(const GradientsAside&) = delete;

 private:
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> gradients_;
};

}  // namespace osler::torch
