// Clipping of gradients, the same on every rank.
#include "osler/torch/clip.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <string_view>

#include "torch/clipping.h"

namespace osler::torch {
namespace {

void require_positive(std::string_view what, double value) {
  if (value > 0) return;
  throw std::invalid_argument(fmt::format("osler: {} must be positive, not {}", what, value));
}

at::Tensor dense(const at::Tensor& gradient) {
  return gradient.is_sparse() ? gradient.coalesce().values() : gradient;
}

/// The norm along everything but the first dimension, which numbers the units; of a vector each element by itself
/// would be a unit, so it is taken whole, as the paper does with biases and gains.
at::Tensor unit_norms(const at::Tensor& tensor) {
  const at::Tensor wide = tensor.to(at::kDouble);
  if (wide.dim() <= 1) return wide.norm();
  const at::Tensor norms = wide.flatten(1).norm(2, 1);
  std::vector<std::int64_t> shape(static_cast<std::size_t>(wide.dim()), 1);
  shape[0] = wide.size(0);
  return norms.view(shape);
}

}  // namespace

double gradient_norm(const std::vector<at::Tensor>& parameters, const ClipRanks& with) {
  const at::NoGradGuard no_graph;
  double squares = 0;
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined() || gradient.numel() == 0) continue;
    // In double: the squares of a half or float overflow long before their norm matters.
    const auto norm = dense(gradient).to(at::kDouble).norm().item<double>();
    squares += norm * norm;
  }
  if (with.ranks && with.ranks->size > 1) {
    at::Tensor sum = at::full({1}, squares, at::kDouble);
    with.ranks->sum(sum);
    squares = sum.item<double>();
    if (with.gradients == GradientsAre::replicated) squares /= with.ranks->size;
  }
  return std::sqrt(squares);
}

bool scale_to_norm(const std::vector<at::Tensor>& parameters, double norm, double limit) {
  if (!std::isfinite(norm) || !(norm > limit)) return false;
  constexpr double kAgainstZero = 1e-6;  // as LibTorch's clip_grad_norm_
  const at::NoGradGuard no_graph;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) parameter.grad().mul_(limit / (norm + kAgainstZero));
  }
  return true;
}

void clamp_gradients(const std::vector<at::Tensor>& parameters, double limit) {
  const at::NoGradGuard no_graph;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) dense(parameter.grad()).clamp_(-limit, limit);
  }
}

bool scale_units(const std::vector<at::Tensor>& parameters, const AdaptiveClip& how) {
  const at::NoGradGuard no_graph;
  bool any = false;
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined() || gradient.is_sparse() || gradient.numel() == 0) continue;
    const at::Tensor allowed = unit_norms(parameter.detach()).clamp_min(how.least_norm) * how.ratio;
    const at::Tensor norms = unit_norms(gradient);
    const at::Tensor factors = (allowed / norms.clamp_min(1e-300)).clamp_max(1);
    if (factors.lt(1).any().item<bool>()) {
      gradient.mul_(factors.to(gradient.scalar_type()));
      any = true;
    }
  }
  return any;
}

double clip_norm(const std::vector<at::Tensor>& parameters, double limit, const ClipRanks& with) {
  require_positive("the norm to clip to", limit);
  const double norm = gradient_norm(parameters, with);
  scale_to_norm(parameters, norm, limit);
  return norm;
}

double clip_value(const std::vector<at::Tensor>& parameters, double limit, const ClipRanks& with) {
  require_positive("the value to clip to", limit);
  const double norm = gradient_norm(parameters, with);
  if (std::isfinite(norm)) clamp_gradients(parameters, limit);
  return norm;
}

double clip_adaptive(const std::vector<at::Tensor>& parameters, const AdaptiveClip& how, const ClipRanks& with) {
  require_positive("the ratio to clip to", how.ratio);
  require_positive("the least norm of weights", how.least_norm);
  const double norm = gradient_norm(parameters, with);
  if (std::isfinite(norm)) scale_units(parameters, how);
  return norm;
}

}  // namespace osler::torch
