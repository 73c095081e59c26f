// Overfitting one batch, and the search for the reason when that fails.
#include "osler/torch/overfit.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "torch/probes/overfit_case.h"
#include "torch/probes/parameters.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;

/// Looks at suspects until one confesses; those before it are noted as cleared.
bool find_reason(const std::vector<Suspect>& all, OverfitCase& overfit, Experiment& experiment) {
  for (const Suspect& suspect : all) {
    overfit.preserved().restore();
    switch_to_training(overfit.training().model);
    if (const auto evidence = suspect.look(overfit)) {
      std::erase_if(experiment.checks, [&](const Experiment::Check& check) { return check.id == suspect.id; });
      experiment.checks.push_back({suspect.id, Outcome::failed, *evidence});
      experiment.outcome = Outcome::failed;
      return true;
    }
    const bool noted = !experiment.checks.empty() && experiment.checks.back().id == suspect.id;
    if (!noted) experiment.checks.push_back({suspect.id, Outcome::passed, "This is not the reason."});
  }
  return false;
}

/// Even a memorised batch may have been memorised by a part of the model alone.
void note_gradients(OverfitCase& overfit, Experiment& experiment) {
  overfit.preserved().restore();
  switch_to_training(overfit.training().model);
  const GradientReach reach = gradient_reach(overfit.training(), overfit.batch());
  std::vector<std::string> without = reach.none;
  without.insert(without.end(), reach.zero.begin(), reach.zero.end());
  if (without.empty()) {
    experiment.checks = {{"gradient", Outcome::passed, "Every parameter that wants a gradient receives one."}};
    return;
  }
  const std::string text = fmt::format("No gradient reaches {}.", some_of(without));
  experiment.checks = {{"gradient", Outcome::failed, text}};
  experiment.verdict += " But it was memorised by a part of the model alone: " + text;
}

void run(OverfitCase& overfit, Experiment& experiment) {
  overfit.choose_batch();
  if (find_reason(plain_suspects(), overfit, experiment) || !overfit.aim()) {
    if (experiment.outcome == Outcome::failed) {
      experiment.verdict = "The batch cannot be memorised. " + experiment.checks.back().text;
    } else {
      experiment.verdict = fmt::format("The first loss is {}: there is nothing to begin with.", overfit.first());
    }
    return;
  }
  const Tried& tried = overfit.attempt({});
  overfit.goal().write(tried.losses, experiment);
  const bool sound = !(overfit.training().classes && overfit.floor() < -1e-6) && !overfit.unbounded() &&
                     !softmax_in_loss_twice(overfit);
  if (tried.memorised && sound) {
    experiment.outcome = Outcome::passed;
    experiment.verdict = fmt::format("The batch is memorised in {} steps: the loss fell from {:.4g} to {:.3g}.",
                                     tried.losses.size(), overfit.first(), tried.losses.back());
    note_gradients(overfit, experiment);
    return;
  }
  find_reason(suspects(), overfit, experiment);
  if (experiment.checks.back().id == "capacity" && overfit.goal().nearly_reached(tried.losses)) {
    // Beginnings of sentences that go on in several ways, or noise that is drawn in every step.
    experiment.checks.back() = {"capacity", Outcome::undecided, "The loss cannot fall further, and need not."};
    experiment.outcome = Outcome::undecided;
    experiment.verdict = fmt::format(
        "The batch is nearly memorised: the loss went from {:.4g} to {:.4g} in {} steps, {:.3g} was the target. "
        "Nothing is broken; equal inputs with different answers, or noise inside the model, may keep it there.",
        overfit.first(), tried.losses.back(), tried.losses.size(), overfit.target());
    return;
  }
  experiment.verdict = fmt::format(
      "The batch is not memorised: the loss went from {:.4g} to {:.4g} in {} steps, {:.3g} was the target. {}",
      overfit.first(), tried.losses.back(), tried.losses.size(), overfit.target(), experiment.checks.back().text);
}

}  // namespace

Experiment overfit_one_batch(const Training& training, const OverfitOptions& options, const Limits& limits) {
  if (options.steps < 3) throw std::invalid_argument("overfit-one-batch: steps must be at least 3.");
  if (options.target && !std::isfinite(*options.target)) {
    throw std::invalid_argument("overfit-one-batch: target must be a finite loss.");
  }
  return run_probe("overfit-one-batch", training, limits,
                   [&](Experiment& experiment, Preserved& preserved, const Clock& clock) {
                     OverfitCase overfit(training, options, preserved, clock);
                     run(overfit, experiment);
                   });
}

std::optional<std::string> overfit_failure(const Experiment& experiment) {
  if (experiment.outcome != Outcome::failed || experiment.checks.empty()) return std::nullopt;
  return experiment.checks.back().id;
}

}  // namespace osler::torch
