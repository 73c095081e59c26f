// tap(): names a tensor that the tracer cannot name by itself.
#pragma once

#include <ATen/ATen.h>

#include <string>

namespace osler::torch {

/// Measures `tensor` under `name` when this step is being traced, and returns it. Costs one look at an atomic
/// otherwise, so it may stay in the model: `x = osler::torch::tap("pooled", x);`
at::Tensor tap(const std::string& name, at::Tensor tensor);

}  // namespace osler::torch
