// Loss scaling with overflow back-off and growth.
#include "osler/torch/loss_scale.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace osler::torch {
namespace {

bool all_finite(const std::vector<at::Tensor>& parameters) {
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor& gradient = parameter.grad();
    if (gradient.defined() && !at::isfinite(gradient).all().item<bool>()) return false;
  }
  return true;
}

void clear_gradients(const std::vector<at::Tensor>& parameters) {
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) parameter.grad().zero_();
  }
}

}  // namespace

LossScale::LossScale(const LossScaleOptions& options) : options_(options) {
  const bool sensible = options.least > 0 && options.start >= options.least && options.most >= options.start &&
                        std::isfinite(options.most) && options.growth >= 1 && options.back_off > 0 &&
                        options.back_off < 1 && options.growth_every >= 1;
  if (!sensible) {
    throw std::invalid_argument(fmt::format(
        "osler: a loss scale needs 0 < least <= start <= most, growth >= 1, 0 < back_off < 1 and growth_every >= 1; "
        "these are least={}, start={}, most={}, growth={}, back_off={}, growth_every={}",
        options.least, options.start, options.most, options.growth, options.back_off, options.growth_every));
  }
  state_.scale = options.start;
}

bool LossScale::settle(bool finite, const Ranks* ranks) {
  if (ranks && ranks->size > 1) {
    at::Tensor bad = at::full({1}, finite ? 0.0 : 1.0, at::kDouble);
    ranks->sum(bad);
    finite = bad.item<double>() == 0;
  }
  if (!finite) {
    state_.scale = std::max(options_.least, state_.scale * options_.back_off);
    state_.good_steps = 0;
    ++state_.overflows;
  } else if (++state_.good_steps >= options_.growth_every) {
    state_.scale = std::min(options_.most, state_.scale * options_.growth);
    state_.good_steps = 0;
  }
  return finite;
}

bool LossScale::unscale(const std::vector<at::Tensor>& parameters, const Ranks* ranks) {
  const at::NoGradGuard no_graph;
  const double scale = state_.scale;
  if (!settle(all_finite(parameters), ranks)) {
    clear_gradients(parameters);
    return false;
  }
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (gradient.scalar_type() == at::kHalf) {
      // The factor itself may be beyond half precision.
      gradient.copy_(gradient.to(at::kFloat).div_(scale));
    } else {
      gradient.div_(scale);
    }
  }
  return true;
}

bool LossScale::unscale(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& masters,
                        const Ranks* ranks) {
  if (parameters.size() != masters.size()) {
    throw std::invalid_argument(fmt::format("osler: {} parameters cannot have {} masters; give one for each",
                                            parameters.size(), masters.size()));
  }
  const at::NoGradGuard no_graph;
  const double scale = state_.scale;
  const bool finite = settle(all_finite(parameters), ranks);
  for (std::size_t i = 0; finite && i < parameters.size(); ++i) {
    const at::Tensor& gradient = parameters[i].grad();
    at::Tensor master = masters[i];
    master.mutable_grad() = gradient.defined() ? gradient.to(master.scalar_type()).div(scale) : at::Tensor();
  }
  clear_gradients(parameters);
  if (!finite) clear_gradients(masters);
  return finite;
}

}  // namespace osler::torch
