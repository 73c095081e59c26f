// OptimizerState: what an optimizer remembers, copied deeply and put back.
#pragma once

#include <ATen/ATen.h>
#include <torch/optim/optimizer.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace osler::torch {

/// A copy of the state and the options of every group of an optimizer. The optimizers of LibTorch get their state back
/// in the same objects and the same tensors; others get equal ones, by way of their own serialisation.
class OptimizerState {
 public:
  /// Throws std::invalid_argument for an optimizer whose state can neither be copied nor serialised.
  explicit OptimizerState(const ::torch::optim::Optimizer& optimizer);
  /// Puts it back into the optimizer it was taken from.
  void restore(::torch::optim::Optimizer& optimizer) const;

 private:
  // A string in LibTorch 1, an address in LibTorch 2.
  using Key = std::decay_t<decltype(std::declval<::torch::optim::Optimizer&>().state())>::key_type;

  struct Entry {
    Key key;
    std::unique_ptr<::torch::optim::OptimizerParamState> shallow;  // holds the optimizer's own tensors
    std::vector<at::Tensor> values;                                // deep copies of these
    std::optional<std::string> serialised;                         // instead of `values` for unknown types
  };
  struct Group {
    std::vector<at::Tensor> parameters;
    std::unique_ptr<::torch::optim::OptimizerOptions> options;
  };

  std::vector<Entry> entries_;
  std::vector<Group> groups_;
  std::unique_ptr<::torch::optim::OptimizerOptions> defaults_;
};

}  // namespace osler::torch
