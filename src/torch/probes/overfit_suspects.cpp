// What can keep a batch from being memorised, and how each shows itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "osler/torch/batch_check.h"
#include "torch/activation_trace.h"
#include "torch/probes/overfit_case.h"
#include "torch/probes/parameters.h"
#include "torch/watch.h"

namespace osler::torch {
namespace {

using Evidence = std::optional<std::string>;

constexpr std::array kRateFactors = {10.0, 100.0, 1000.0};

Evidence inputs(OverfitCase& overfit) {
  const BatchReport report = validate_batch(overfit.batch().inputs);
  if (report.nonfinite == 0) return std::nullopt;
  return fmt::format("{} of {} input values are NaN or infinite.", report.nonfinite, report.inputs);
}

Evidence labels(OverfitCase& overfit) {
  const at::Tensor& targets = overfit.batch().targets;
  const BatchReport report = label_report(targets, overfit.training().classes);
  if (report.invalid_labels > 0) {
    return fmt::format("{} of {} labels are NaN, fractional, negative or beyond the classes.", report.invalid_labels,
                       report.labels);
  }
  if (!report.constant_label) return std::nullopt;
  return "All labels of every batch drawn are the same: there is nothing to memorise.";
}

Evidence loss_without_gradient(OverfitCase& overfit) {
  const at::Tensor outputs = overfit.training().forward(overfit.batch().inputs);
  if (!outputs.is_floating_point()) return "The outputs are whole numbers: nothing can flow back through them.";
  at::Tensor free = outputs.detach().clone().requires_grad_(true);
  const at::Tensor loss = overfit.training().loss(free, overfit.batch().targets);
  if (!std::isfinite(loss.item<double>())) return fmt::format("The first loss is {}.", loss.item<double>());
  if (!loss.requires_grad()) {
    return "The loss does not depend on the outputs in a way that can be differentiated (argmax, rounding, detach).";
  }
  loss.backward();
  if (!free.grad().defined() || free.grad().abs().max().item<double>() == 0) {
    return fmt::format("The loss is {:.4g} and its gradient with respect to the outputs is zero everywhere.",
                       loss.item<double>());
  }
  return std::nullopt;
}

Evidence nothing_trained(OverfitCase& overfit) {
  const ParameterUse use = parameter_use(overfit.training());
  if (!use.trained.empty()) return std::nullopt;
  return fmt::format("No parameter is trained: {} want no gradient, {} are not in the optimizer.", use.frozen.size(),
                     use.missing.size());
}

Evidence cut_off(OverfitCase& overfit) {
  const at::Tensor outputs = overfit.training().forward(overfit.batch().inputs);
  if (outputs.requires_grad()) return std::nullopt;
  return "The outputs are cut off from every parameter (detach, no-grad guard or a new tensor made from values).";
}

Evidence loss_floor(OverfitCase& overfit) {
  if (overfit.training().classes && overfit.floor() < -1e-6) {
    return fmt::format("The loss of a classifier cannot be negative, and this one falls to {:.4g}: its sign is wrong.",
                       overfit.floor());
  }
  if (overfit.unbounded()) return "The loss has no lowest value: it falls faster and faster. Its sign is wrong.";
  if (overfit.first() - overfit.floor() > 0.01 * std::abs(overfit.first())) return std::nullopt;
  return fmt::format("Even free outputs bring the loss from {:.4g} only to {:.4g}: it is not a loss of these targets.",
                     overfit.first(), overfit.floor());
}

Evidence softmax_twice(OverfitCase& overfit) {
  if (!softmax_in_loss_twice(overfit)) return std::nullopt;
  return fmt::format(
      "Even free outputs bring the loss only to {:.4g}, which is where a softmax that is applied twice ends.",
      overfit.floor());
}

/// Outputs that are probabilities already, and a loss that takes logits.
Evidence probabilities_as_logits(OverfitCase& overfit) {
  if (!overfit.training().classes) return std::nullopt;
  const at::Tensor outputs = overfit.training().forward(overfit.batch().inputs).detach();
  if (outputs.dim() < 2 || outputs.size(1) != *overfit.training().classes) return std::nullopt;
  const bool sums_to_one = (outputs.sum(1) - 1).abs().max().item<double>() < 1e-3;
  if (!sums_to_one || outputs.min().item<double>() < 0) return std::nullopt;
  const double reachable = std::log(std::exp(1.0) + static_cast<double>(*overfit.training().classes) - 1) - 1;
  const double last = overfit.attempt({}).losses.back();
  if (last < 0.5 * reachable) return std::nullopt;
  return fmt::format(
      "The outputs are probabilities already, and the loss applies softmax once more: it cannot fall below "
      "{:.3g} and stopped at {:.3g}.",
      reachable, last);
}

Evidence dead_units(OverfitCase& overfit) {
  ActivationTrace trace(overfit.training().model);
  {
    const Watch watch(trace);
    (void)overfit.training().forward(overfit.batch().inputs);
  }
  std::vector<std::string> dead;
  for (const Activation& activation : trace.activations()) {
    if (!activation.units || activation.units->active.empty()) continue;
    if (activation.units->silent() == activation.units->active.size()) dead.push_back(activation.layer);
  }
  if (dead.empty()) return std::nullopt;
  return fmt::format("Every unit of {} is zero for every sample: no gradient passes.", fmt::join(dead, ", "));
}

Evidence mode(OverfitCase& overfit) {
  const std::vector<std::string> still = modules_in_evaluation(overfit.training().model);
  (void)overfit.training().forward(overfit.batch().inputs);
  const bool switched = !overfit.training().model.is_training();
  if (still.empty() && !switched) return std::nullopt;
  if (!overfit.attempt({1, Attempt::Mode::training, false}).memorised) {
    if (switched) return "The forward pass itself switches the model to evaluation mode.";
    return std::nullopt;
  }
  return fmt::format("It is memorised when every module is in training mode; in evaluation mode are {}.",
                     some_of(still));
}

Evidence dropout(OverfitCase& overfit) {
  if (!overfit.attempt({1, Attempt::Mode::evaluation, false}).memorised) return std::nullopt;
  return fmt::format(
      "It is memorised in evaluation mode within {} steps: dropout is too strong, or batch statistics of so "
      "few samples are too noisy.",
      overfit.attempt({1, Attempt::Mode::evaluation, false}).losses.size());
}

/// What to multiply the rate by: decades, and for a rate far below the usual ones what leads there.
std::vector<double> rate_factors(const OverfitCase& overfit, bool higher) {
  std::vector<double> factors(kRateFactors.begin(), kRateFactors.end());
  if (!higher) return factors;
  constexpr std::array kUsual = {1e-3, 1e-2, 1e-1};  // of Adam, and of gradient descent
  const double rate = overfit.training().optimizer.param_groups().front().options().get_lr();
  for (const double usual : kUsual) {
    if (rate > 0 && usual / rate > 2 * factors.back()) factors.push_back(usual / rate);
  }
  return factors;
}

Evidence other_rate(OverfitCase& overfit, bool higher) {
  for (const double factor : rate_factors(overfit, higher)) {
    const Tried& tried = overfit.attempt({higher ? factor : 1 / factor, Attempt::Mode::as_is, false});
    if (!tried.memorised) continue;
    return fmt::format("It is memorised in {} steps at {} the learning rate.", tried.losses.size(),
                       higher ? fmt::format("{:.0f} times", factor) : fmt::format("1/{:.0f} of", factor));
  }
  return std::nullopt;
}

Evidence rate_too_low(OverfitCase& overfit) {
  if (overfit.goal().went_wild(overfit.attempt({}).losses)) return std::nullopt;
  return other_rate(overfit, true);
}

Evidence rate_too_high(OverfitCase& overfit) {
  return other_rate(overfit, false);
}

/// Whether Adam memorises the batch when it may train everything.
bool plain_adam_memorises(OverfitCase& overfit) {
  return overfit.attempt({1, Attempt::Mode::as_is, true}).memorised ||
         overfit.attempt({10, Attempt::Mode::as_is, true}).memorised;
}

Evidence frozen(OverfitCase& overfit) {
  std::vector<std::string> left_out = parameter_use(overfit.training()).frozen;
  const std::vector<std::string> missing = parameter_use(overfit.training()).missing;
  left_out.insert(left_out.end(), missing.begin(), missing.end());
  if (left_out.empty() || !plain_adam_memorises(overfit)) return std::nullopt;
  return fmt::format("It is memorised when all parameters are trained; left out are {}.", some_of(left_out));
}

Evidence optimizer(OverfitCase& overfit) {
  if (!plain_adam_memorises(overfit)) return std::nullopt;
  return "It is memorised by Adam at a usual rate: look at this optimizer's weight decay, momentum and other "
         "options.";
}

Evidence conflicting_labels(OverfitCase& overfit) {
  const Batch& batch = overfit.batch();
  if (!batch.targets.defined() || batch.targets.dim() == 0 || batch.inputs.dim() == 0 ||
      batch.targets.size(0) != batch.inputs.size(0)) {
    return std::nullopt;
  }
  const std::vector<std::uint64_t> samples = sample_hashes(batch.inputs);
  const std::vector<std::uint64_t> answers = sample_hashes(batch.targets);
  std::unordered_map<std::uint64_t, std::uint64_t> first;
  std::unordered_set<std::uint64_t> torn;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto [known, fresh] = first.try_emplace(samples[i], answers[i]);
    if (!fresh && known->second != answers[i]) torn.insert(samples[i]);
  }
  if (torn.empty()) return std::nullopt;
  return fmt::format("{} of {} different inputs come several times with different labels.", torn.size(), first.size());
}

Evidence gradient(OverfitCase& overfit) {
  const GradientReach reach = gradient_reach(overfit.training(), overfit.batch());
  if (!reach.none.empty()) {
    return fmt::format("No gradient reaches {}: they are not part of the loss's graph.", some_of(reach.none));
  }
  if (!reach.zero.empty()) return fmt::format("The gradient of {} is exactly zero.", some_of(reach.zero));
  if (!reach.faint.empty()) {
    return fmt::format("The gradient of {} is a million times smaller than that of other layers, for its size.",
                       some_of(reach.faint));
  }
  return std::nullopt;
}

Evidence capacity(OverfitCase& overfit) {
  return fmt::format(
      "No change of mode, learning rate or optimizer helps: the model is too small for a batch of {} samples, "
      "or its outputs cannot take the values that the loss wants.",
      overfit.batch().inputs.dim() > 0 ? overfit.batch().inputs.size(0) : 1);
}

}  // namespace

bool softmax_in_loss_twice(const OverfitCase& overfit) {
  const at::Tensor& targets = overfit.batch().targets;
  if (!overfit.training().classes || !targets.defined() || targets.is_floating_point()) return false;
  const auto classes = static_cast<double>(*overfit.training().classes);
  const double end = std::log(std::exp(1.0) + classes - 1) - 1;
  constexpr double kNear = 0.02;  // the search for the floor does not reach it exactly
  return overfit.floor() > (1 - kNear) * end && overfit.floor() < (1 + kNear) * end;
}

const std::vector<Suspect>& plain_suspects() {
  static const std::vector<Suspect> all = {
      {"inputs", inputs},          {"labels", labels},    {"loss", loss_without_gradient},
      {"frozen", nothing_trained}, {"gradient", cut_off},
  };
  return all;
}

const std::vector<Suspect>& suspects() {
  // What can be seen comes before what must be tried, what an attempt has shown before what is only suspicious.
  static const std::vector<Suspect> all = {
      {"loss", loss_floor},
      {"loss", softmax_twice},
      {"loss", probabilities_as_logits},
      {"dead-units", dead_units},
      {"mode", mode},
      {"dropout", dropout},
      {"learning-rate-too-low", rate_too_low},
      {"learning-rate-too-high", rate_too_high},
      {"frozen", frozen},
      {"labels", conflicting_labels},
      {"gradient", gradient},
      {"optimizer", optimizer},
      {"capacity", capacity},
  };
  return all;
}

}  // namespace osler::torch
