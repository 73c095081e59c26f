// TensorNames: how the model itself would call a tensor, "conv2 -> bn2 -> relu".
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <torch/nn/module.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/name_book.h"

namespace osler::torch {

/// The tensors among the values of an operation, those in lists too.
[[nodiscard]] std::vector<at::Tensor> tensors_in(std::span<const c10::IValue> values);

/// A book of names for LibTorch's tensors.
class TensorNames {
 public:
  explicit TensorNames(const ::torch::nn::Module& model);

  /// The parameter or buffer that a tensor is or looks at ("fc1.weight"); empty when it is none.
  [[nodiscard]] std::string_view parameter(const at::Tensor& tensor) const;
  /// The layer a parameter belongs to: "fc1" for "fc1.weight"; empty when the tensor is no parameter.
  [[nodiscard]] std::string_view layer(const at::Tensor& tensor) const;

  /// How the result of an operation is called, from its inputs.
  [[nodiscard]] std::string result(std::string_view plain, const std::vector<at::Tensor>& inputs) const;
  /// Tells the name of a tensor that an operation gave out; an empty name forgets it.
  void name(const at::Tensor& tensor, const std::string& name);
  /// Forgets the names of all tensors but parameters.
  void forget() { book_.forget(); }
  /// The name a tensor was given, or the layer whose weight it is; empty when it is not known.
  [[nodiscard]] std::string of(const at::Tensor& tensor) const;

 private:
  monitor::NameBook book_;
};

}  // namespace osler::torch
