// reward-oscillating: the policy learns and forgets in turns.
#include <algorithm>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The smoothed reward rises and falls by a large part of its range again and again.

## Signature
At least `falls` times the reward of a whole stretch falls by `fall_share` of the range between the best and the worst
stretch, each by `errors` standard errors. The scatter of single episodes does not count.

## Why it matters
What is learned does not last: updates are too large for the data they rest on, or the critic chases its own tail.
Which checkpoint one keeps is a lottery.

## When it is harmless
In self-play the reward swings as the opponent learns, and some environments are simply bimodal.

## References
- Schulman et al. 2017, Proximal Policy Optimization Algorithms.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (!reward_progress(patient) || patient.training()->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " rewards"};
  }
  if (const std::string why = moving_target(patient); !why.empty()) return NotChecked{why};
  const Reading& reward = *patient.training();
  const Stretches parts = stretches_of(reward, static_cast<std::size_t>(settings["stretches"]));
  const double range = parts.all[parts.worst()].level - parts.all[parts.best()].level;
  if (!(range > settings["range_scatter"] * parts.scatter)) return NotFound{};
  // Every fall is counted from the last high point before it, every high point from the last low one.
  double falls = 0;
  std::size_t first = 0;
  const Stretch* high = &parts.first();
  const Stretch* low = &parts.first();
  for (const Stretch& part : parts.all) {
    if (part.level < high->level) high = &part;
    const bool deep =
        part.level - high->level > settings["fall_share"] * range && errors_gained(part, *high) > settings["errors"];
    if (deep) {
      if (falls == 0) first = part.first;
      ++falls;
      low = &part;
      high = &part;
    }
    if (part.level > low->level) low = &part;
  }
  if (falls < settings["falls"]) return NotFound{};
  const std::int64_t since = reward.step_at(first);
  Observation seen = observe(Severity::warning, confidence_of(falls / settings["falls"] + 0.5), since, reward.last_step,
                             reward.name + " rises and falls again: " + number(falls) + " falls of half its range (" +
                                 number(reward.shown(parts.all[parts.worst()].level)) + " to " +
                                 number(reward.shown(parts.all[parts.best()].level)) + ").");
  seen.evidence.push_back(
      evidence(reward.name, since, reward.last_step, falls, settings["falls"],
               "the range is " + number(range / parts.scatter) + " times the scatter within a stretch"));
  return seen;
}

}  // namespace

Finding reward_oscillating() {
  return {.id = "reward-oscillating",
          .title = "The reward rises and falls again and again",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 60, "rewards needed to tell swings from noise"},
                       {"stretches", 24, "stretches the run is cut into"},
                       {"falls", 3, "deep falls; one or two happen to every agent"},
                       {"fall_share", 0.5, "depth of a fall as a share of the range of stretches"},
                       {"range_scatter", 2, "range of stretches in scatters within them; less is episode noise"},
                       {"errors", 4, "standard errors of each fall"}},
          .check = check,
          .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
