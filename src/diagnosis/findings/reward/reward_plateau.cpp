// reward-plateau: the reward rose and has stopped rising; whether that is the top, the causes decide.
#include <algorithm>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/flatness.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The reward came some way and then stopped. By itself that is neither good nor bad: an agent that has learned its task
ends so, and one that is caught in a habit as well.

## Signature
The reward has clearly risen over the run, and over at least the last `flat_share` of it the trend gains less than
`matters` of all that was gained.

## Why it matters
Time on a plateau is time not spent on the fix, or on stopping.

## When it is harmless
When the reward is as high as the task allows. Compare with what a good agent earns, not with the curve.

## References
- Henderson et al. 2018, Deep Reinforcement Learning that Matters.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto progress = reward_progress(patient);
  if (!progress || progress->reading->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " rewards"};
  }
  const Reading& reward = *progress->reading;
  const Flatness flat = flatness_of(reward, settings["matters"]);
  if (!progress->improved() || flat.share < settings["flat_share"] || flat.since >= reward.size()) return NotFound{};
  const std::int64_t since = reward.step_at(flat.since);
  Observation seen =
      observe(Severity::note, confidence_of(flat.share / settings["flat_share"]), since, reward.last_step,
              reward.name + " is flat since " + at_step(since) + " at " + number(reward.shown(progress->late.level)) +
                  ", up from " + number(reward.shown(progress->stretches.first().level)) + ".");
  seen.evidence.push_back(evidence(
      reward.name, since, reward.last_step, flat.of_gain, settings["matters"],
      "the last " + per_cent(flat.share) + " of the run gained " + per_cent(flat.of_gain) + " of the whole gain"));
  return seen;
}

}  // namespace

Finding reward_plateau() {
  return {.id = "reward-plateau",
          .title = "The reward has stopped rising",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 18, "rewards needed to see a rise and a level"},
                       {"flat_share", 0.8,
                        "last share of the run that must be flat; every agent that has learned its task levels off"},
                       {"matters", 0.05, "share of the whole gain that counts as movement"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
