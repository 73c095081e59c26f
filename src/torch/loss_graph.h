// What the graph of a loss shows, also after the backward pass.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "monitor/loss_graph.h"

namespace osler::torch {

/// The nodes behind a loss, its own first, at most kLossNodes.
[[nodiscard]] std::vector<monitor::LossNode> graph_of(const at::Tensor& loss);

/// What a loss was made of.
struct LossMakeUp {
  std::uint64_t kind = 0;               ///< the same for losses that are computed alike, from the same outputs
  std::vector<const void*> parameters;  ///< those nearest to the loss, by the address of their TensorImpl
};
[[nodiscard]] LossMakeUp make_up_of(const at::Tensor& loss);

}  // namespace osler::torch
