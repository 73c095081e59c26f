// HostTensor: a LibTorch tensor as the statistics engine reads it.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "osler/stats/engine.h"
#include "osler/stats/tensor_view.h"

namespace osler::torch {

/// A view of a tensor in host memory together with what keeps that memory alive. A tensor on another device is copied
/// to the host first, which is slow.
struct HostTensor {
  at::Tensor owner;
  stats::TensorView view;
  bool copied = false;
};

/// The tensor as the engine reads it. Nothing for undefined and sparse tensors and for types without NaN (integers).
[[nodiscard]] std::optional<HostTensor> host_tensor(const at::Tensor& tensor);

/// The engine that measures LibTorch's tensors, with the threads that the training computes with anyway.
[[nodiscard]] std::unique_ptr<stats::Engine> training_threads_engine();

/// The value of a tensor of one element; at once where it lies in host memory as a float or double.
[[nodiscard]] double single_value(const at::Tensor& tensor);

/// Whether no element is NaN or infinite; quick for small tensors in host memory.
[[nodiscard]] bool all_finite(const at::Tensor& tensor);

/// Where a tensor's memory is known by: views share it with what they look at. Null for tensors without storage.
[[nodiscard]] const void* storage_of(const at::Tensor& tensor);

/// "[64, 10]".
[[nodiscard]] std::string in_brackets(const std::vector<std::int64_t>& numbers);

}  // namespace osler::torch
