// SavedState: what a forward and backward pass changes beside the loss, to be put back afterwards.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace osler::torch {

/// The states of the random number generators that a model on these devices draws from.
class RandomState {
 public:
  using States = std::vector<std::pair<at::Device, at::Tensor>>;

  RandomState() = default;
  /// States that were kept elsewhere.
  explicit RandomState(States states) : states_(std::move(states)) {}
  /// Reads the generators of the host and of the devices of the model's parameters.
  static RandomState now(const std::vector<at::Tensor>& parameters);
  /// Devices that this machine does not have are left out.
  void restore() const;
  [[nodiscard]] const States& states() const { return states_; }

 private:
  States states_;
};

/// The state of the host's generator alone, kept without the tensor that LibTorch makes of it: for what is done on
/// every step.
class HostRandomState {
 public:
  void save();
  void restore() const;

 private:
  at::mt19937 engine_;
  decltype(std::declval<at::CPUGeneratorImpl&>().next_float_normal_sample()) next_float_;
  decltype(std::declval<at::CPUGeneratorImpl&>().next_double_normal_sample()) next_double_;
};

/// Copies of the buffers of a model (running statistics): few numbers beside the parameters.
class BufferState {
 public:
  /// Copies the buffers into memory that is kept from call to call; those of more than `most` elements are left out.
  void save(const std::vector<at::Tensor>& buffers, std::int64_t most = std::numeric_limits<std::int64_t>::max());
  /// Those that were left out stay as they are.
  void restore(const std::vector<at::Tensor>& buffers) const;
  [[nodiscard]] bool empty() const { return copies_.empty(); }
  /// In the order of the buffers, undefined where one was left out.
  [[nodiscard]] const std::vector<at::Tensor>& copies() const { return copies_; }

 private:
  std::vector<at::Tensor> copies_;
};

/// The mode of a model and of each module in it: training, or evaluation.
class ModuleModes {
 public:
  /// The model must outlive it.
  explicit ModuleModes(::torch::nn::Module& model);
  void restore() const;

 private:
  ::torch::nn::Module& model_;
  bool training_;
  std::vector<std::pair<std::shared_ptr<::torch::nn::Module>, bool>> modules_;  // parents first
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
