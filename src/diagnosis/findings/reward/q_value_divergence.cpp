// q-value-divergence: the critic promises returns that nobody ever earned.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The Q values, or the actor's loss that is minus their mean, grow far beyond any return seen.

## Signature
Smoothed, their size reaches `beyond` times the largest size of a reward in the log, and `growth` times what it was,
while the reward has not clearly risen.

## Why it matters
Bootstrapped values feed on themselves. The policy maximises an error, and the reward falls while the losses look busy.

## When it is harmless
With rewards per step in the log and values over long horizons the ratio is up to 1 / (1 - gamma), about a hundred.

## References
- Fujimoto et al. 2018, Addressing Function Approximation Error in Actor-Critic Methods.
- van Hasselt et al. 2018, Deep Reinforcement Learning and the Deadly Triad.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto fewest = static_cast<std::size_t>(settings["fewest_points"]);
  auto values = figure(patient, Role::q_value, fewest);
  if (!values) values = figure(patient, Role::policy_loss, fewest);
  const auto progress = reward_progress(patient);
  if (!values || !progress) return NotChecked{"no Q values and no actor's loss beside a reward"};
  const double size = std::max(std::abs(values->top), std::abs(values->best));
  const double before = std::abs(early_level(*values));
  const auto& rewards = progress->reading->curve.value;
  const double largest = std::max(std::abs(signal::quantile(rewards, 0.01)), std::abs(signal::quantile(rewards, 0.99)));
  if (!(largest > 0) || size < settings["beyond"] * largest || size < settings["growth"] * before ||
      progress->improved()) {
    return NotFound{};
  }
  Observation seen = observe(Severity::critical, confidence_of(size / (settings["beyond"] * largest)),
                             values->first_step, values->last_step,
                             values->name + " reached a size of " + number(size) + ", " + times(size / largest) +
                                 " the largest reward ever seen, and " + progress->reading->name + " has not risen.");
  seen.evidence.push_back(evidence(values->name, values->first_step, values->last_step, size,
                                   settings["beyond"] * largest, "it began at " + number(early_level(*values))));
  return seen;
}

}  // namespace

Finding q_value_divergence() {
  return {.id = "q-value-divergence",
          .title = "The critic promises returns that were never earned",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 10, "values below which a level means nothing"},
                       {"beyond", 5, "times the largest reward seen; healthy values stay near the returns"},
                       {"growth", 10, "growth over the run that shows that it feeds on itself"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
