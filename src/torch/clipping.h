// The working parts of clipping, for those that know the norm already.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "osler/torch/clip.h"

namespace osler::torch {

/// Shrinks gradients whose norm is `norm` to `limit`; says whether it had to.
bool scale_to_norm(const std::vector<at::Tensor>& parameters, double norm, double limit);
/// Cuts every element of every gradient.
void clamp_gradients(const std::vector<at::Tensor>& parameters, double limit);
/// Shrinks the gradient of each unit against its weights; says whether any was too large.
bool scale_units(const std::vector<at::Tensor>& parameters, const AdaptiveClip& how);

}  // namespace osler::torch
