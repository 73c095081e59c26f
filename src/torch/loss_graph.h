// The graph behind a loss, as the monitor's rules read it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "monitor/loss_graph.h"

namespace osler::torch {

/// The nodes behind a loss, its own first.
[[nodiscard]] std::vector<monitor::LossNode> graph_of(const at::Tensor& loss);

}  // namespace osler::torch
