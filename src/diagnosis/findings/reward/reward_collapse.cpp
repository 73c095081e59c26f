// reward-collapse: the agent had learned something and lost it for good.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The reward rose, then fell far below its own best, and stays there.

## Signature
The best stretch lies `errors` standard errors above the first; of that gain the last `stays` of the run have lost
`lost_share` or more, surely.

## Why it matters
The policy forgot what it knew. The best checkpoint lies behind, and further training starts from a worse policy than
the one at the peak. One update that is too large is enough: the data of the next one come from the ruined policy.

## When it is harmless
A single bad evaluation, or a dip while epsilon reaches its end, recovers. Where the environment gets harder on purpose
(a curriculum, self-play against a better opponent) the same skill earns less.

## References
- Schulman et al. 2017, Proximal Policy Optimization Algorithms: why large updates destroy policies.
- Dohare et al. 2024, Loss of plasticity in deep continual learning.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto progress = reward_progress(patient);
  if (!progress || progress->reading->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " rewards"};
  }
  if (const std::string why = moving_target(patient); !why.empty()) return NotChecked{why};
  const Reading& reward = *progress->reading;
  const Stretches& parts = progress->stretches;
  const std::size_t best = parts.best();
  const auto tail =
      static_cast<std::size_t>(std::max(1L, std::lround(settings["stays"] * static_cast<double>(parts.all.size()))));
  if (best + tail >= parts.all.size()) return NotFound{};
  const Stretch end = parts.joined(parts.all.size() - tail);
  const Stretch& peak = parts.all[best];
  const double begin = std::max(parts.first().level, reward.start);
  const double gained = begin - peak.level;
  const double lost = end.level - peak.level;
  // A reward that was best at the start has gained nothing that could be lost: that is reward-worse-than-start.
  if (best == 0 || !(gained > settings["least_gain"] * progress->scale)) return NotFound{};
  const bool sure =
      errors_gained(end, peak) > settings["errors"] && errors_gained(parts.first(), peak) > settings["errors"];
  const double share = lost / gained;
  if (!sure || share < settings["lost_share"]) return NotFound{};
  const std::int64_t since = reward.step_at(peak.last - 1);
  Observation seen =
      observe(share > settings["all_lost"] ? Severity::critical : Severity::warning,
              confidence_of(2 * share / settings["lost_share"]), since, reward.last_step,
              reward.name + " reached " + number(reward.shown(peak.level)) + " by " + at_step(since) + " and fell to " +
                  number(reward.shown(end.level)) + ": " + per_cent(std::min(share, 9.99)) + " of what it had gained.");
  seen.evidence.push_back(evidence(reward.name, since, reward.last_step, reward.shown(end.level),
                                   reward.shown(peak.level),
                                   "it began at " + number(reward.shown(begin)) + "; the fall is " +
                                       number(errors_gained(end, peak)) + " standard errors"));
  return seen;
}

}  // namespace

Finding reward_collapse() {
  return {.id = "reward-collapse",
          .title = "The reward fell far below its best and stays there",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 18, "rewards needed to see a rise and a fall"},
                       {"errors", 4, "standard errors of both; the peak is the best of a dozen stretches"},
                       {"least_gain", 0.15, "gain at the peak, as a share of the scale of rewards, that can be lost"},
                       {"lost_share", 0.25,
                        "share of the gain that must be lost; of healthy public runs none loses more than 0.17 surely"},
                       {"all_lost", 0.8, "share of the gain whose loss is critical"},
                       {"stays", 0.17, "last share of the run over which it must be gone"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
