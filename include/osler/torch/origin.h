// The origin of a NaN: the first operation that made a non-finite value which reached the loss or a gradient.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "osler/monitor/origin_cause.h"

namespace osler::torch {

using monitor::OriginCause;

/// What brought a non-finite value, roughly: as much as is known without running the step again.
enum class OriginPlace { unknown, batch, weights, forward, backward };
/// "batch", "weights", "forward", "backward", "unknown".
[[nodiscard]] std::string_view to_string(OriginPlace place);

/// A tensor as it was when the operation ran.
struct OriginTensor {
  std::string name;  ///< "input 1", "fc1.weight"
  std::vector<std::int64_t> sizes;
  std::string dtype;
  std::uint64_t count = 0;
  std::uint64_t nan_count = 0;
  std::uint64_t inf_count = 0;
  double min = 0;  ///< of the finite elements
  double max = 0;
};

/// One element that became non-finite.
struct Offender {
  std::vector<std::int64_t> index;
  double output = 0;
  std::vector<double> inputs;  ///< the elements of the inputs at the same place, where shapes allow
};

/// Where a non-finite value came from.
struct NonfiniteOrigin {
  OriginCause cause = OriginCause::unknown;
  OriginPlace place = OriginPlace::unknown;
  std::string operation;  ///< "log"; in the backward pass the operation whose gradient it was
  std::string inside;     ///< the operation around it, when it is part of one: "cross_entropy_loss"
  std::string layer;      ///< "fc2 -> softmax": what the operation worked on; empty when unnamed
  bool backward = false;
  std::vector<OriginTensor> inputs;
  std::vector<OriginTensor> outputs;
  std::vector<Offender> offenders;  ///< the first few
  std::string detail;               ///< what about the inputs explains it, in a few words
};
/// One sentence for a person.
[[nodiscard]] std::string describe(const NonfiniteOrigin& origin);

/// A parameter or buffer with non-finite elements.
struct NonfiniteTensor {
  std::string name;
  bool buffer = false;
  bool gradient = false;  ///< of the parameter's gradient, not its value
  std::uint64_t count = 0;
  std::uint64_t nan_count = 0;
  std::uint64_t inf_count = 0;
  std::vector<std::int64_t> first;  ///< where the first one is
};
/// Parameters, their gradients and buffers that hold NaN or infinity, in the model's order.
[[nodiscard]] std::vector<NonfiniteTensor> find_nonfinite(const ::torch::nn::Module& model);

/// Runs `compute_loss` and its backward pass under the tracer and says where the first non-finite value that reaches
/// the loss or a gradient comes from; nothing when all is finite. Where autograd refuses the backward pass because a
/// tensor was changed in place, that change is the origin. Random numbers, buffers and gradients are put back
/// afterwards. An exception of `compute_loss` passes through.
[[nodiscard]] std::optional<NonfiniteOrigin> trace_origin(::torch::nn::Module& model,
                                                          const std::function<at::Tensor()>& compute_loss);

}  // namespace osler::torch
