// reward-worse-than-start: the trained policy earns less than the random one it began as.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Learning made the policy worse: after the first updates the reward lies below that of the untrained policy, and stays.

## Signature
The last third lies `errors` standard errors and `fall_share` of the scale of rewards below the first points, and no
stretch of the run was better than them; where the whole run is one descent, `sinking_share` is enough.

## Why it matters
Something turns the signal round or drowns it: a reward of the wrong sign, a critic that diverged, a penalty that pays
for ending episodes early, observations that are normalised otherwise than before.

## When it is harmless
The first logged value may be a single lucky episode, or an average over fewer episodes than later ones.

## References
- Henderson et al. 2018, Deep Reinforcement Learning that Matters.
)";

/// Whether the log holds its first value for a while, as one does that writes the reward of the last episode at every
/// step.
bool repeats_its_first(const Reading& reward) {
  constexpr std::size_t kFewest = 3;
  const auto& values = reward.curve.value;
  return std::all_of(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(kFewest, values.size())),
                     [&](double value) { return value == values.front(); });
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto progress = reward_progress(patient);
  if (!progress || progress->reading->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " rewards"};
  }
  if (const std::string why = moving_target(patient); !why.empty()) return NotChecked{why};
  const Reading& reward = *progress->reading;
  const Stretches& parts = progress->stretches;
  // The first points as they are: the fall often comes with the first updates, within the first stretch. One that a log
  // repeats until the next episode ends is a single one.
  const double start = repeats_its_first(reward) ? parts.first().level : reward.start;
  const double begin = std::min(parts.first().level, start);
  const double fall = progress->late.level - begin;
  const double of_start = start < parts.first().level - parts.first().error ? 0 : parts.first().error;
  const double best = parts.all[parts.best()].level;
  const bool ever_better = begin - best > settings["better_share"] * fall && parts.best() > 0;
  // What rises all along since then, from a start of few episodes, is on its way.
  if (progress->still_improves()) return NotFound{};
  // Less of a fall is enough where the reward has sunk for certain over the whole run.
  const signal::Trend trend = signal::trend_of(reward.curve.step, reward.curve.value);
  const bool sinks = trend.slope > 0 && trend.p_value < settings["p_value"];
  // A descent over the whole run is no luck of the first points.
  const double error = sinks ? std::hypot(progress->late.error, parts.first().error)
                             : std::max({progress->late.error, parts.scatter / 2, of_start});
  const double least = settings[sinks ? "sinking_share" : "fall_share"] * progress->scale;
  // What it had clearly learned before it settled on that is reward-collapse.
  const bool peaked = parts.best() > 0 && errors_gained(parts.first(), parts.all[parts.best()]) > settings["errors"];
  const auto first = settled_against(reward);
  const bool settled = first && first->better + first->equal / 2 > settings["most"] && !peaked;
  if (!(fall > 0) || (!settled && (fall < settings["errors"] * error || fall < least || ever_better))) {
    return NotFound{};
  }
  Observation seen =
      observe(Severity::critical, confidence_of(fall / least), reward.first_step, reward.last_step,
              reward.name + " is worse than at the start: " + number(reward.shown(begin)) + " then, " +
                  number(reward.shown(progress->late.level)) + " over the last third, and never clearly better.");
  seen.evidence.push_back(evidence(reward.name, reward.first_step, reward.last_step, reward.shown(progress->late.level),
                                   reward.shown(begin), "single values scatter by " + number(parts.scatter)));
  return seen;
}

}  // namespace

Finding reward_worse_than_start() {
  return {.id = "reward-worse-than-start",
          .title = "The reward is lower than that of the untrained policy",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 12, "rewards below which a level means nothing"},
                       {"errors", 3, "half scatters of single values by which the end must lie below the start"},
                       {"fall_share", 0.25, "fall as a share of the scale of rewards"},
                       {"sinking_share", 0.15, "the same where the whole run is one descent"},
                       {"most", 0.75,
                        "share of the first episodes that went better than the last ones, which are all alike"},
                       {"p_value", 0.001, "significance of such a descent"},
                       {"better_share", 0.3, "gain over the start, as a share of the fall, that makes it a collapse"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
