// value-function-not-learning: the critic predicts returns no better than their mean.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The value function explains nothing of the returns, or its loss stays as large as they are: advantages are then as noisy
as the returns themselves.

## Signature
The explained variance of the last half is at or below `explained` in `share` of the updates while the value loss has not
come down and the reward is not improving; or, without it, the value loss stays above `huge` without falling, which means
that returns are not scaled.

## Why it matters
A policy gradient without a baseline that works needs many times the data, and large unscaled errors swamp the shared
layers.

## When it is harmless
Once every episode earns the same, there is no variance to explain: values far below zero are then a division by almost
nothing. Early in training zero is where every critic starts.

## References
- Schulman et al. 2016, High-Dimensional Continuous Control Using Generalized Advantage Estimation.
- Engstrom et al. 2020, Implementation Matters in Deep Policy Gradients: scaling rewards and values.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto fewest = static_cast<std::size_t>(settings["fewest_points"]);
  const auto explained = figure(patient, Role::explained_variance, fewest);
  const auto loss = figure(patient, Role::value_loss, fewest);
  const auto progress = reward_progress(patient);
  if ((!explained && !loss) || !progress) return NotChecked{"no explained variance and no value loss beside a reward"};
  const bool loss_falls = loss && late_level(*loss) < settings["loss_left"] * early_level(*loss);
  if (progress->improved() || loss_falls) return NotFound{};
  const bool varied = progress->stretches.scatter > settings["varied"] * progress->reading->level;
  if (explained && varied) {
    const auto half = std::span(explained->curve.value).last(explained->size() / 2);
    const double useless =
        static_cast<double>(
            std::count_if(half.begin(), half.end(), [&](double value) { return value <= settings["explained"]; })) /
        static_cast<double>(half.size());
    if (useless >= settings["share"]) {
      Observation seen =
          observe(Severity::warning, confidence_of(2 * useless), explained->first_step, explained->last_step,
                  explained->name + " is at " + number(signal::median(half)) +
                      " over the last half: the critic predicts returns no better than their mean.");
      seen.evidence.push_back(evidence(explained->name, explained->first_step, explained->last_step,
                                       signal::median(half), settings["explained"],
                                       per_cent(useless) + " of the updates explain nothing while returns vary"));
      return seen;
    }
  }
  if (loss && late_level(*loss) > settings["huge"]) {
    Observation seen = observe(Severity::warning, confidence_of(std::log10(late_level(*loss) / settings["huge"]) + 1.5),
                               loss->first_step, loss->last_step,
                               loss->name + " stays at " + number(late_level(*loss)) +
                                   ": returns of that size are not scaled, and the critic does not learn them.");
    seen.evidence.push_back(evidence(loss->name, loss->first_step, loss->last_step, late_level(*loss), settings["huge"],
                                     "it began at " + number(early_level(*loss))));
    return seen;
  }
  return NotFound{};
}

}  // namespace

Finding value_function_not_learning() {
  return {.id = "value-function-not-learning",
          .title = "The critic predicts returns no better than their mean",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 8, "updates below which a level means nothing"},
                       {"explained", 0.05, "explained variance at or below which nothing is explained"},
                       {"share", 0.6, "share of the updates of the last half that must be so"},
                       {"varied", 0.02, "scatter of rewards, against their size, that leaves something to explain"},
                       {"loss_left", 0.3, "share of its first value to which a value loss that learns comes down"},
                       {"huge", 1e6, "value loss of returns that nobody scaled"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
