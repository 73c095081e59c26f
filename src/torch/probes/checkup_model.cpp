// The checkup's points about the model and its loss.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "osler/torch/initialisation.h"
#include "torch/activation_trace.h"
#include "torch/host_tensor.h"
#include "torch/probes/checkup_points.h"
#include "torch/probes/parameters.h"
#include "torch/saved_state.h"
#include "torch/watch.h"

namespace osler::torch {
namespace {

double loss_now(const Examined& examined, const Batch& batch) {
  const at::NoGradGuard no_graph;
  return examined.training.loss_of(batch).item<double>();
}

/// Scores of classes for each target: one dimension more, the second or the last, or all positions in a row.
bool holds_scores(const at::Tensor& outputs, const at::Tensor& targets) {
  if (outputs.dim() < 2) return false;
  for (const std::int64_t dimension : {std::int64_t{1}, outputs.dim() - 1}) {
    std::vector<std::int64_t> rest = outputs.sizes().vec();
    rest.erase(rest.begin() + dimension);
    if (at::IntArrayRef(rest) == targets.sizes()) return true;
  }
  return outputs.size(0) == targets.numel() || outputs.numel() == targets.numel() * outputs.size(-1);
}

/// Whether the sizes differ and LibTorch would make them fit all the same, by repetition.
bool spread_over(const at::Tensor& one, const at::Tensor& other) {
  const std::int64_t dims = std::max(one.dim(), other.dim());
  for (std::int64_t i = 1; i <= dims; ++i) {
    const std::int64_t a = i <= one.dim() ? one.size(-i) : 1;
    const std::int64_t b = i <= other.dim() ? other.size(-i) : 1;
    if (a != b && a != 1 && b != 1) return false;
  }
  return true;
}

PointResult output_shape(Examined& examined) {
  const Batch& batch = examined.batches.front();
  const at::Tensor outputs = examined.training.forward(batch.inputs);
  const std::vector<std::int64_t> sizes = outputs.sizes().vec();
  const std::string shape = in_brackets(sizes);
  if (examined.options.output_shape) {
    std::vector<std::int64_t> expected = *examined.options.output_shape;
    expected.insert(expected.begin(), batch.inputs.size(0));
    if (sizes != expected) return bad(fmt::format("Outputs are {}, expected are {}.", shape, in_brackets(expected)));
    return good(fmt::format("Outputs are {}.", shape));
  }
  if (examined.training.classes) {
    const std::int64_t classes = *examined.training.classes;
    const bool there = outputs.dim() > 1 && (sizes[1] == classes || sizes.back() == classes);
    if (!there) return bad(fmt::format("Outputs are {}; no dimension holds the {} classes.", shape, classes));
    return good(fmt::format("Outputs are {}, for {} classes.", shape, classes));
  }
  if (!batch.targets.defined())
    return good(fmt::format("Outputs are {}; there are no targets to compare with.", shape));
  if (outputs.sizes() == batch.targets.sizes()) return good(fmt::format("Outputs are {}, as the targets.", shape));
  const std::string wanted = in_brackets(batch.targets.sizes().vec());
  if (!batch.targets.is_floating_point() && holds_scores(outputs, batch.targets)) {
    return good(fmt::format("Outputs are {}, scores of the classes that the targets {} number.", shape, wanted));
  }
  if (!spread_over(outputs, batch.targets)) {
    return not_checked(
        fmt::format("Outputs are {} and targets {}: only the loss knows how they belong together.", shape, wanted));
  }
  return bad(
      fmt::format("Outputs are {} and targets {}: a loss that takes both spreads one over the other.", shape, wanted));
}

PointResult first_loss(Examined& examined) {
  if (!examined.training.classes) return not_checked("Not a classifier, or Training::classes is not set.");
  double mean = 0;
  for (const Batch& batch : examined.batches) {
    examined.clock.check();
    mean += loss_now(examined, batch) / static_cast<double>(examined.batches.size());
  }
  const double chance = std::log(static_cast<double>(*examined.training.classes));
  const std::string text = fmt::format("The first loss is {:.4g}; guessing among {} classes gives {:.4g}.", mean,
                                       *examined.training.classes, chance);
  constexpr double kFar = 0.3;      // of the loss of a guess
  constexpr double kAtLeast = 0.5;  // for few classes, where logits of size one matter more
  return std::abs(mean - chance) <= std::max(kFar * chance, kAtLeast) ? good(text) : bad(text);
}

PointResult loss_falls(Examined& examined) {
  const Batch& batch = examined.batches.front();
  // The same random numbers before and after, so that dropout is the same.
  const RandomState random = RandomState::now(examined.training.model.parameters());
  const double before = loss_now(examined, batch);
  random.restore();
  (void)optimizer_step(examined.training, examined.training.optimizer, {&batch, 1});
  random.restore();
  const double after = loss_now(examined, batch);
  const std::string text =
      fmt::format("One step takes the loss of its own batch from {:.6g} to {:.6g}.", before, after);
  return after < before ? good(text) : bad(text);
}

PointResult from_probe(const Experiment& experiment) {
  if (experiment.outcome == Experiment::Outcome::stopped) return not_checked(experiment.verdict);
  return {experiment.outcome, experiment.verdict};
}

PointResult overfit(Examined& examined) {
  const Experiment found = overfit_one_batch(examined.training, examined.options.overfit, examined.clock.left());
  examined.clock.check();
  return from_probe(found);
}

PointResult train_mode(Examined& examined) {
  if (!examined.was_training) return bad("The model is in evaluation mode: call train() before training.");
  (void)examined.training.forward(examined.batches.front().inputs);
  if (!examined.training.model.is_training()) return bad("The forward pass switches the model to evaluation mode.");
  const std::vector<std::string> still = modules_in_evaluation(examined.training.model);
  if (!still.empty()) return bad(fmt::format("In evaluation mode are {}.", some_of(still)));
  return good("Every module is in training mode.");
}

/// After training on one batch, inputs of zeros must do worse than the real ones.
PointResult zero_input(Examined& examined) {
  const Batch& batch = examined.batches.front();
  const double first = loss_now(examined, batch);
  double last = first;
  for (std::size_t step = 0; step < examined.options.overfit.steps; ++step) {
    examined.clock.check();
    last = optimizer_step(examined.training, examined.training.optimizer, {&batch, 1});
    if (!std::isfinite(last) || last < 0.02 * std::abs(first)) break;
  }
  const double real = loss_now(examined, batch);
  const double blind = loss_now(examined, {at::zeros_like(batch.inputs), batch.targets});
  const std::string text =
      fmt::format("After training on one batch its loss is {:.4g}, and {:.4g} with all inputs zero.", real, blind);
  if (!std::isfinite(real)) return bad(text);
  constexpr double kWorse = 0.02;  // of the first loss
  if (blind - real > kWorse * std::abs(first)) return good(text);
  return bad(text + " The model does not look at its inputs.");
}

PointResult every_parameter_learns(Examined& examined) {
  const ParameterUse use = parameter_use(examined.training);
  if (!use.missing.empty()) return bad(fmt::format("Not in the optimizer are {}.", some_of(use.missing)));
  const GradientReach reach = gradient_reach(examined.training, examined.batches.front());
  if (!reach.nonfinite.empty()) return bad(fmt::format("The gradient of {} is not finite.", some_of(reach.nonfinite)));
  if (!reach.none.empty()) return bad(fmt::format("No gradient reaches {}.", some_of(reach.none)));
  if (!reach.zero.empty()) return bad(fmt::format("The gradient of {} is zero everywhere.", some_of(reach.zero)));
  if (use.trained.empty()) return bad("Every parameter is frozen.");
  if (use.frozen.empty()) return good(fmt::format("All {} parameters receive a gradient.", use.trained.size()));
  return good(fmt::format("All {} parameters that are not frozen receive a gradient; frozen are {}.",
                          use.trained.size(), some_of(use.frozen)));
}

/// Which samples of a batch the outputs of one sample depend on.
PointResult samples_independent(Examined& examined) {
  const Batch& batch = examined.batches.front();
  const std::int64_t samples = batch.inputs.dim() == 0 ? 0 : batch.inputs.size(0);
  if (samples < 2) return not_checked("A batch holds a single sample.");
  examined.training.model.eval();  // batch statistics mix samples on purpose
  const std::int64_t chosen = samples / 2;
  at::Tensor touched;  // for each sample, how much the chosen output depends on it
  const auto of_chosen = [&](const at::Tensor& outputs) { return outputs.reshape({samples, -1}).select(0, chosen); };
  if (batch.inputs.is_floating_point()) {
    at::Tensor inputs = batch.inputs.detach().clone().requires_grad_(true);
    const at::Tensor outputs = examined.training.forward(inputs);
    if (outputs.numel() % samples != 0) return not_checked("The outputs cannot be told apart by sample.");
    if (!outputs.requires_grad())
      return bad("The outputs do not depend on the inputs in a way that can be differentiated.");
    of_chosen(outputs).sum().backward();
    if (!inputs.grad().defined()) return bad("The outputs do not depend on the inputs.");
    touched = inputs.grad().abs().reshape({samples, -1}).amax(1).to(at::kCPU);
  } else {
    const at::NoGradGuard no_graph;
    const at::Tensor outputs = examined.training.forward(batch.inputs);
    if (outputs.numel() % samples != 0) return not_checked("The outputs cannot be told apart by sample.");
    // Whole numbers have no gradient: the others are exchanged for the chosen sample instead.
    at::Tensor others = batch.inputs.select(0, chosen).unsqueeze(0).expand_as(batch.inputs).clone();
    const at::Tensor change = of_chosen(examined.training.forward(others)) - of_chosen(outputs);
    const double size = of_chosen(outputs).abs().max().item<double>();
    touched = at::zeros({samples});
    touched[chosen] = 1;
    if (change.abs().max().item<double>() > 1e-4 * size) touched[(chosen + 1) % samples] = 1;
  }
  touched[chosen] = 0;
  const auto foreign = touched.gt(0).sum().item<std::int64_t>();
  if (foreign == 0) return good("The output of a sample depends on no other sample.");
  return bad(
      "The output of a sample depends on other samples of its batch: a dimension is mixed up (view instead of "
      "transpose, a mean over the batch).");
}

PointResult units_alive(Examined& examined) {
  ActivationTrace trace(examined.training.model);
  {
    const Watch watch(trace);
    if (!watch.active()) return not_checked("Another trace is looking at this process.");
    const at::NoGradGuard no_graph;
    (void)examined.training.forward(examined.batches.front().inputs);
  }
  constexpr double kMostDead = 0.5;
  constexpr double kMostSaturated = 0.5;
  std::vector<std::string> dead;
  std::vector<std::string> saturated;
  std::size_t seen = 0;
  for (const Activation& activation : trace.activations()) {
    if (activation.units && !activation.units->active.empty()) {
      ++seen;
      const double share =
          static_cast<double>(activation.units->silent()) / static_cast<double>(activation.units->active.size());
      if (share > kMostDead) dead.push_back(activation.layer);
    }
    if (activation.saturated) {
      ++seen;
      if (*activation.saturated > kMostSaturated) saturated.push_back(activation.layer);
    }
  }
  if (!dead.empty()) return bad(fmt::format("More than half of the units are dead in {}.", some_of(dead)));
  if (!saturated.empty())
    return bad(fmt::format("More than half of the outputs are saturated in {}.", some_of(saturated)));
  if (seen == 0) return good("No activation of the model can die or saturate.");
  return good(fmt::format("In all {} activations most units work.", seen));
}

PointResult initialisation(Examined& examined) {
  return from_probe(initialisation_check(examined.training.model));
}

PointResult propagation(Examined& examined) {
  const Experiment found = signal_propagation(examined.training, examined.clock.left());
  examined.clock.check();
  return from_probe(found);
}

}  // namespace

const std::vector<CheckupPoint>& model_points() {
  static const std::vector<CheckupPoint> all = {
      {"output-shape", output_shape},
      {"first-loss", first_loss},
      {"loss-falls", loss_falls},
      {"overfit-one-batch", overfit},
      {"train-mode", train_mode},
      {"zero-input", zero_input},
      {"every-parameter-learns", every_parameter_learns},
      {"samples-independent", samples_independent},
      {"units-alive", units_alive},
      {"initialisation", initialisation},
      {"signal-propagation", propagation},
  };
  return all;
}

}  // namespace osler::torch
