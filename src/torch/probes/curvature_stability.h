// The edge of stability: how long a step an optimizer takes in each direction, and from which curvature it overshoots.
#pragma once

#include <ATen/ATen.h>
#include <torch/optim/optimizer.h>

#include <optional>
#include <string>

#include "torch/probes/surface_loss.h"

namespace osler::torch {

/// Steps are stable while the largest eigenvalue of S H S stays below `limit`, S being `scale` on the diagonal.
struct StepStability {
  double learning_rate = 0;  ///< the largest of all groups
  double limit = 0;          ///< 2 / lr for plain gradient descent
  at::Tensor scale;          ///< flat; undefined when it is 1 everywhere
  std::string words;         ///< "2 / lr"
};

/// What is known of an optimizer's steps, or why its edge of stability is not known.
struct StabilityAnswer {
  std::optional<StepStability> stability;
  std::string why_not;
};

/// Gradient descent with or without momentum, Adam and AdamW (Cohen et al. 2021, 2022).
[[nodiscard]] StabilityAnswer step_stability(const ::torch::optim::Optimizer& optimizer, const SurfaceLoss& surface);

}  // namespace osler::torch
