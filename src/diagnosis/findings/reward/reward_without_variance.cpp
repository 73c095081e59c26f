// reward-without-variance: all answers of a group earn the same, so none is better than another.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Methods that compare answers within a group (GRPO, RLOO) learn from differences of reward. Here there are none, and the
reward is not that of success.

## Signature
Over the last third the deviation of the reward within groups is zero, or nearly all groups lack variance, while the
reward lies below its best or is at the bottom of what was seen.

## Why it matters
Advantages are zero, so the gradient is zero: nothing more will be learned.

## When it is harmless
When every answer of a group is right the loss and the gradient are zero as well: that is success, and the reward tells
the two apart.

## References
- Shao et al. 2024, DeepSeekMath: group relative policy optimization.
- Yu et al. 2025, DAPO: dynamic sampling of groups with variance.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto fewest = static_cast<std::size_t>(settings["fewest_points"]);
  const auto deviation = figure(patient, Role::reward_deviation, fewest);
  const auto share = figure(patient, Role::no_variance_share, fewest);
  const auto progress = reward_progress(patient);
  if ((!deviation && !share) || !progress) return NotChecked{"no spread of rewards within groups is logged"};
  const Reading& reward = *progress->reading;
  const double nothing = settings["deviation"] * std::max(reward.level, 1e-12);
  const bool alike = deviation && late_level(*deviation) <= nothing;
  const bool none = alike || (share && late_level(*share) > settings["share"]);
  // Success: the late reward is as good as the best of the run and better than its worst.
  const Stretches& parts = progress->stretches;
  const double range = parts.all[parts.worst()].level - parts.all[parts.best()].level;
  const bool at_best = range > 0 && progress->late.level - parts.all[parts.best()].level < settings["at_best"] * range;
  if (!none || at_best || progress->improved()) return NotFound{};
  const Reading& shown = alike ? *deviation : *share;
  std::size_t since = shown.size() - 1;
  const auto gone = [&](double level) { return alike ? level <= nothing : level > settings["share"]; };
  while (since > 0 && gone(shown.smoothed[since - 1])) --since;
  Observation seen =
      observe(Severity::critical, confidence_of(3), shown.step_at(since), shown.last_step,
              "All answers of a group earn the same (" + shown.name + " is " + number(late_level(shown)) +
                  ") at a reward of " + number(reward.shown(progress->late.level)) + ": no gradient is left.");
  seen.evidence.push_back(evidence(shown.name, shown.step_at(since), shown.last_step, late_level(shown),
                                   alike ? nothing : settings["share"], "the median of the last third"));
  return seen;
}

}  // namespace

Finding reward_without_variance() {
  return {.id = "reward-without-variance",
          .title = "All answers earn the same reward, and it is not that of success",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 8, "values below which a level means nothing"},
                       {"deviation", 1e-3, "deviation, against the size of rewards, that is none"},
                       {"share", 0.95, "share of groups without variance that leaves nothing to learn from"},
                       {"at_best", 0.25, "distance from the best stretch, in ranges, that still is success"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
