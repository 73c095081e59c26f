// value-loss-explosion: the critic's loss grows by orders of magnitude while the reward does not.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss of the value function grows by orders of magnitude and the reward does not explain it.

## Signature
Smoothed, it reaches `factor` times the first values, while the reward has not clearly risen at the end. Growth of a critic's
loss with the return is normal: errors grow with what is predicted.

## Why it matters
The critic diverges: its targets rest on its own predictions. The policy follows values that mean nothing.

## When it is harmless
In SAC and DDPG the loss rises fifty-fold with the return in healthy runs. A hump while the agent breaks through is fine.

## References
- van Hasselt et al. 2018, Deep Reinforcement Learning and the Deadly Triad.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto loss = figure(patient, Role::value_loss, static_cast<std::size_t>(settings["fewest_points"]));
  const auto progress = reward_progress(patient);
  if (!loss || !progress) return NotChecked{"no value loss beside a reward"};
  const double early = early_level(*loss);
  const double late = loss->top;
  if (!(early > 0) || late < settings["factor"] * early || progress->improved()) return NotFound{};
  Observation seen =
      observe(Severity::critical, confidence_of(std::log10(late / early)), loss->first_step, loss->last_step,
              loss->name + " grew from " + number(early) + " to as much as " + number(late) + " while " +
                  progress->reading->name + " has not risen.");
  seen.evidence.push_back(evidence(loss->name, loss->first_step, loss->last_step, late / early, settings["factor"],
                                   times(late / early) + " its first values"));
  return seen;
}

}  // namespace

Finding value_loss_explosion() {
  return {.id = "value-loss-explosion",
          .title = "The critic's loss explodes while the reward does not rise",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 10, "values below which a level means nothing"},
                       {"factor", 100, "growth beyond what returns of another size explain"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
