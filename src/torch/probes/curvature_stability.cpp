// Limits of stability by kind of optimizer.
#include "torch/probes/curvature_stability.h"

#include <fmt/format.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <type_traits>
#include <vector>

namespace osler::torch {
namespace {

namespace optim = ::torch::optim;

/// Where the state of a parameter lies: under its address, which LibTorch 1 writes as text.
template <typename States>
auto state_of(const States& states, const at::Tensor& parameter) {
  if constexpr (std::is_same_v<typename States::key_type, std::string>) {
    std::ostringstream key;
    key << parameter.unsafeGetTensorImpl();
    return states.find(key.str());
  } else {
    return states.find(parameter.unsafeGetTensorImpl());
  }
}

const SurfaceLoss::Part* part_of(const SurfaceLoss& surface, const at::Tensor& parameter) {
  const auto found = std::find_if(surface.parts().begin(), surface.parts().end(), [&](const SurfaceLoss::Part& part) {
    return part.value.unsafeGetTensorImpl() == parameter.unsafeGetTensorImpl();
  });
  return found == surface.parts().end() ? nullptr : &*found;
}

double largest_rate(const optim::Optimizer& optimizer) {
  double largest = 0;
  for (const auto& group : optimizer.param_groups()) largest = std::max(largest, group.options().get_lr());
  return largest;
}

/// The limit for heavy-ball momentum, with and without Nesterov's look ahead.
StabilityAnswer descent(const optim::Optimizer& optimizer, const SurfaceLoss& surface, double rate) {
  StepStability stability;
  stability.learning_rate = rate;
  stability.limit = HUGE_VAL;
  at::Tensor scale = at::zeros_like(surface.origin());
  for (const auto& group : optimizer.param_groups()) {
    const auto& options = dynamic_cast<const optim::SGDOptions&>(group.options());
    const double beta = options.momentum();
    const double factor =
        options.nesterov() ? (2 + 2 * beta) / (1 + 2 * beta) : (2 + 2 * beta) / (1 - options.dampening());
    if (factor / rate < stability.limit) {
      stability.limit = factor / rate;
      stability.words = fmt::format("{:.3g} / lr{}", factor,
                                    beta == 0            ? ""
                                    : options.nesterov() ? ", with Nesterov momentum"
                                                         : ", with momentum");
    }
    for (const at::Tensor& parameter : group.params()) {
      if (const auto* part = part_of(surface, parameter)) {
        scale.slice(0, part->begin, part->end).fill_(std::sqrt(options.lr() / rate));
      }
    }
  }
  if (!scale.eq(1).all().item<bool>()) stability.scale = scale;
  return {stability, ""};
}

/// Adam divides each step by the root of the mean squared gradient, so it is the Hessian so scaled that counts.
template <typename Options, typename State>
StabilityAnswer adaptive(const optim::Optimizer& optimizer, const SurfaceLoss& surface, double rate) {
  StepStability stability;
  stability.learning_rate = rate;
  stability.scale = at::zeros_like(surface.origin());
  bool stepped = false;
  for (const auto& group : optimizer.param_groups()) {
    const auto& options = dynamic_cast<const Options&>(group.options());
    const double momentum = std::get<0>(options.betas());
    const double factor = (2 + 2 * momentum) / (1 - momentum);
    stability.limit = factor / rate;
    stability.words = fmt::format("{:.3g} / lr, of the Hessian as Adam scales it", factor);
    for (const at::Tensor& parameter : group.params()) {
      const auto* part = part_of(surface, parameter);
      const auto entry = state_of(optimizer.state(), parameter);
      if (part == nullptr || entry == optimizer.state().end()) continue;
      const auto* state = dynamic_cast<const State*>(entry->second.get());
      if (state == nullptr || !state->exp_avg_sq().defined()) continue;
      const double correction = 1 - std::pow(std::get<1>(options.betas()), static_cast<double>(state->step()));
      const at::Tensor size = (state->exp_avg_sq().detach() / correction).sqrt() + options.eps();
      stability.scale.slice(0, part->begin, part->end).copy_((options.lr() / rate / size).sqrt().reshape({-1}));
      stepped = true;
    }
  }
  if (!stepped) return {std::nullopt, "Adam has not stepped yet"};
  return {stability, ""};
}

template <typename Options>
bool all_groups_are(const optim::Optimizer& optimizer) {
  return std::all_of(optimizer.param_groups().begin(), optimizer.param_groups().end(),
                     [](const auto& group) { return dynamic_cast<const Options*>(&group.options()) != nullptr; });
}

}  // namespace

StabilityAnswer step_stability(const optim::Optimizer& optimizer, const SurfaceLoss& surface) {
  const double rate = largest_rate(optimizer);
  if (!(rate > 0)) return {std::nullopt, "the learning rate is zero"};
  if (all_groups_are<optim::SGDOptions>(optimizer)) return descent(optimizer, surface, rate);
  if (all_groups_are<optim::AdamOptions>(optimizer)) {
    return adaptive<optim::AdamOptions, optim::AdamParamState>(optimizer, surface, rate);
  }
  if (all_groups_are<optim::AdamWOptions>(optimizer)) {
    return adaptive<optim::AdamWOptions, optim::AdamWParamState>(optimizer, surface, rate);
  }
  return {std::nullopt, "it is known for gradient descent, Adam and AdamW only"};
}

}  // namespace osler::torch
