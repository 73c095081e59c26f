// How far steps change each weight tensor, and the learning rates that would change all of them alike.
#include <fmt/format.h>
#include <torch/optim.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <vector>

#include "osler/torch/noise_scale.h"
#include "torch/probes/probe.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

/// A weight with a norm worth speaking of: biases and scales often begin at zero and are few.
struct Weight {
  std::string name;
  at::Tensor value;
  double learning_rate = 0;
  std::vector<double> ratios;

  [[nodiscard]] double ratio() const {
    std::vector<double> sorted = ratios;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

std::vector<Weight> weights_of(const Training& training) {
  std::map<const void*, double> rates;
  for (const auto& group : training.optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      rates[parameter.unsafeGetTensorImpl()] = group.options().get_lr();
    }
  }
  std::vector<Weight> weights;
  for (const auto& item : training.model.named_parameters()) {
    const auto rate = rates.find(item.value().unsafeGetTensorImpl());
    if (rate == rates.end() || item.value().dim() < 2 || !item.value().requires_grad()) continue;
    weights.push_back({item.key(), item.value(), rate->second, {}});
  }
  return weights;
}

void step(const Training& training, std::vector<Weight>& weights) {
  std::vector<at::Tensor> before;
  for (const Weight& weight : weights) before.push_back(weight.value.detach().clone());
  training.optimizer.zero_grad();
  training.loss_of(training.next_batch()).backward();
  training.optimizer.step();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double norm = before[i].norm().item<double>();
    const double change = (weights[i].value.detach() - before[i]).norm().item<double>();
    weights[i].ratios.push_back(norm > 0 ? change / norm : HUGE_VAL);
  }
}

/// What is usual for the optimizer. Adam and its like move every element by about the rate, however small its gradient.
double usual_ratio(const ::torch::optim::Optimizer& optimizer) {
  namespace optim = ::torch::optim;
  const bool by_size = dynamic_cast<const optim::Adam*>(&optimizer) != nullptr ||
                       dynamic_cast<const optim::AdamW*>(&optimizer) != nullptr ||
                       dynamic_cast<const optim::RMSprop*>(&optimizer) != nullptr ||
                       dynamic_cast<const optim::Adagrad*>(&optimizer) != nullptr;
  return by_size ? 5e-3 : 1e-3;
}

void judge(const std::vector<Weight>& weights, double target, double tolerance, Experiment& experiment) {
  Experiment::Column ratios{"update-ratio", {}};
  Experiment::Column rates{"learning-rate", {}};
  std::size_t off = 0;
  for (const Weight& weight : weights) {
    const double ratio = weight.ratio();
    const bool fine = ratio <= target * tolerance && ratio >= target / tolerance;
    const double planned = ratio > 0 && std::isfinite(ratio) ? weight.learning_rate * target / ratio : std::nan("");
    ratios.values.push_back(ratio);
    rates.values.push_back(planned);
    off += fine ? 0 : 1;
    experiment.checks.push_back({weight.name, fine ? Outcome::passed : Outcome::failed,
                                 fmt::format("a step changes it by {:.2g} of its norm; {:.2g} would take a learning "
                                             "rate of {:.2g}",
                                             ratio, target, planned)});
  }
  experiment.columns = {std::move(ratios), std::move(rates)};
  experiment.values = {{"target", target, {}, {}}, {"layers-off", static_cast<double>(off), {}, {}}};
  experiment.outcome = off == 0 ? Outcome::passed : Outcome::failed;
  experiment.verdict =
      off == 0
          ? fmt::format("Steps change every weight by {:.2g} of its norm within a factor of {:.3g}.", target, tolerance)
          : fmt::format(
                "{} of {} weights change by more than {:.3g} times, or less than a {:.3g}th of, {:.2g} of "
                "their norm in a step.",
                off, weights.size(), tolerance, tolerance, target);
}

}  // namespace

Experiment update_ratios(const Training& training, const UpdateRatioOptions& options, const Limits& limits) {
  if (options.steps < 1 || !(options.target.value_or(1) > 0) || !(options.tolerance >= 1)) {
    throw std::invalid_argument("update-ratios: at least 1 step, a target above 0 and a tolerance from 1 are needed.");
  }
  return run_probe("update-ratios", training, limits, [&](Experiment& experiment, Preserved&, const Clock& clock) {
    training.model.train();
    std::vector<Weight> weights = weights_of(training);
    if (weights.empty()) {
      experiment.verdict = "The optimizer holds no weight matrix of this model.";
      return;
    }
    for (int i = 0; i < options.steps; ++i) {
      clock.check();
      step(training, weights);
    }
    judge(weights, options.target.value_or(usual_ratio(training.optimizer)), options.tolerance, experiment);
  });
}

}  // namespace osler::torch
