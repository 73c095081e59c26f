// Clipping of gradients: by norm, by value, and layer by layer against the weights.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "osler/torch/ranks.h"

namespace osler::torch {

/// What the gradients of one rank are to those of the others.
enum class GradientsAre {
  replicated,  ///< the same on every rank, up to rounding (data-parallel, after the reduction)
  sharded,     ///< every rank holds a part of the model
};

/// Whom to agree with about a norm. Every rank then clips by the same number, and when the gradients of one are not
/// finite, all of them see it; without, rounding lets the ranks drift apart.
struct ClipRanks {
  const Ranks* ranks = nullptr;
  GradientsAre gradients = GradientsAre::replicated;
};

/// The norm of all gradients together. Parameters without a gradient count as 0.
[[nodiscard]] double gradient_norm(const std::vector<at::Tensor>& parameters, const ClipRanks& with = {});

// Each returns the norm before clipping and changes nothing when it is not finite: what to do then is the caller's
// decision. A limit that is not positive throws std::invalid_argument.

/// Shrinks all gradients by one factor, so that their common norm is at most `limit`.
double clip_norm(const std::vector<at::Tensor>& parameters, double limit, const ClipRanks& with = {});
/// Cuts every element to the range from -limit to limit.
double clip_value(const std::vector<at::Tensor>& parameters, double limit, const ClipRanks& with = {});

/// Adaptive clipping (Brock et al. 2021).
struct AdaptiveClip {
  double ratio = 0.01;       ///< of a unit's gradient norm to its weights' norm
  double least_norm = 1e-3;  ///< weights below count as this large, or fresh zeros could never grow
};
/// Shrinks the gradient of each unit (a row of a matrix, a filter) whose norm is more than `ratio` of its weights'. The
/// paper leaves the last layer out: leave its parameters out of the list.
double clip_adaptive(const std::vector<at::Tensor>& parameters, const AdaptiveClip& how = {},
                     const ClipRanks& with = {});

}  // namespace osler::torch
