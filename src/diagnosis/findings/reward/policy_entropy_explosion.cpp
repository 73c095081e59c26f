// policy-entropy-explosion: the policy gets more random without end while the reward does not rise.
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The standard deviation of the actions, or the entropy of the policy, grows all along: the bonus for being random pays
more than the task.

## Signature
The deviation grew by `factor` (an entropy of a language model or a Gaussian by its logarithm) and does not stop, while
the reward has not clearly risen over the second half.

## Why it matters
A policy that is more random than at its start has learned that acting well does not pay.

## When it is harmless
Entropy that rises for a while as the agent explores and then falls is part of learning; with a rising reward it does no
harm.

## References
- Haarnoja et al. 2018, Soft Actor-Critic Algorithms and Applications: the temperature.
- Andrychowicz et al. 2021, What Matters in On-Policy Reinforcement Learning?
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto fewest = static_cast<std::size_t>(settings["fewest_points"]);
  const auto deviation = figure(patient, Role::action_deviation, fewest);
  const auto entropy = figure(patient, Role::policy_entropy, fewest);
  const auto progress = reward_progress(patient);
  if ((!deviation && !entropy) || !progress) return NotChecked{"no entropy or deviation of the policy beside a reward"};
  const Reading& spread = deviation ? *deviation : *entropy;
  const double growth = deviation ? late_level(spread) / std::max(early_level(spread), 1e-300)
                                  : std::exp(late_level(spread) - early_level(spread));
  const bool rises = signal::trend_of(spread.curve.step, spread.curve.value).rises(settings["p_value"]);
  if (!rises || growth < settings["factor"] || progress->still_improves()) return NotFound{};
  Observation seen =
      observe(Severity::warning, confidence_of(growth / settings["factor"]), spread.first_step, spread.last_step,
              spread.name + " grows from " + number(early_level(spread)) + " to " + number(late_level(spread)) +
                  " while " + progress->reading->name + " does not rise.");
  seen.evidence.push_back(evidence(spread.name, spread.first_step, spread.last_step, growth, settings["factor"],
                                   "the policy is " + times(growth) + " as wide as at the start"));
  return seen;
}

}  // namespace

Finding policy_entropy_explosion() {
  return {.id = "policy-entropy-explosion",
          .title = "The policy gets more random without end",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 10, "values below which a level means nothing"},
                       {"factor", 3, "growth of the deviation; a policy starts about as wide as it may be"},
                       {"p_value", 0.001, "significance of the growth"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
