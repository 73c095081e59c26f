// policy-entropy-collapse: the policy stopped exploring before it had learned the task.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The policy has become deterministic while the reward is no better than at the start: it repeats one action and meets
nothing new.

## Signature
The entropy of a discrete policy fell to `left` of its start, or the deviation of a Gaussian one did, while the reward
has not clearly risen.

## Why it matters
Without exploration nothing better is found; later updates only confirm the first guess.

## When it is harmless
A policy that has learned its task is sure of itself: a low entropy beside a high reward is success.

## References
- Williams and Peng 1991, Function optimization using connectionist reinforcement learning algorithms: the bonus.
- Mnih et al. 2016, Asynchronous Methods for Deep Reinforcement Learning.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto fewest = static_cast<std::size_t>(settings["fewest_points"]);
  const auto deviation = figure(patient, Role::action_deviation, fewest);
  const auto entropy = figure(patient, Role::policy_entropy, fewest);
  const auto progress = reward_progress(patient);
  if ((!deviation && !entropy) || !progress) return NotChecked{"no entropy or deviation of the policy beside a reward"};
  const Reading& spread = deviation ? *deviation : *entropy;
  const double early = early_level(spread);
  const double late = late_level(spread);
  // The entropy of a Gaussian may be negative and has no floor: only its deviation tells.
  const bool discrete = !deviation && *std::min_element(spread.curve.value.begin(), spread.curve.value.end()) >= 0;
  if (!deviation && !discrete) return NotChecked{"the entropy of a Gaussian has no floor; its deviation is not logged"};
  if (!(early > 0) || late > settings["left"] * early || progress->improved()) return NotFound{};
  Observation seen = observe(Severity::warning, confidence_of(settings["left"] * early / std::max(late, 1e-3 * early)),
                             spread.first_step, spread.last_step,
                             spread.name + " fell from " + number(early) + " to " + number(late) + " while " +
                                 progress->reading->name + " has not risen: the policy no longer explores.");
  seen.evidence.push_back(evidence(spread.name, spread.first_step, spread.last_step, late / early, settings["left"],
                                   per_cent(late / early) + " of its first level is left"));
  return seen;
}

}  // namespace

Finding policy_entropy_collapse() {
  return {.id = "policy-entropy-collapse",
          .title = "The policy stopped exploring before it learned the task",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 10, "values below which a level means nothing"},
                       {"left", 0.1, "share of the first entropy or deviation below which nothing is explored"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
