// eval-contradicts-rollout: evaluation says that the agent has learned nothing, the rollout says that it has.
#include <algorithm>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The rollout reward rises, the evaluation reward does not follow: the agent that is evaluated is not the one that trains,
or does not see the world in the same way.

## Signature
Of at least `fewest_evaluations` evaluations after the first third of the run, `share` or more earned less than half of
what the rollout had gained by then.

## Why it matters
Either the result is worth nothing outside the training loop, or the evaluation is broken and every decision based on it
is wrong: observations normalised twice or not at all, frozen statistics, another reward wrapper, a deterministic policy
where the stochastic one was trained.

## When it is harmless
Evaluations are few and noisy; one bad one means nothing. An evaluation environment that is harder on purpose earns less.

## References
- Raffin et al. 2021, Stable-Baselines3: VecNormalize and evaluation environments.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto fewest = static_cast<std::size_t>(settings["fewest_evaluations"]);
  const auto evaluations = figure(patient, Role::evaluation_reward, fewest);
  const auto progress = reward_progress(patient);
  if (!evaluations || !progress || patient.roles().in(Role::reward).empty()) {
    return NotChecked{"needs the rewards of rollouts and at least " + number(settings["fewest_evaluations"]) +
                      " evaluations"};
  }
  const Reading& reward = *progress->reading;
  if (!progress->improved()) return NotFound{};
  const double begin = reward.shown(reward.start);
  double judged = 0;
  double behind = 0;
  const double third = reward.curve.step.front() + (reward.curve.step.back() - reward.curve.step.front()) / 3;
  for (std::size_t i = 0; i < evaluations->size(); ++i) {
    if (evaluations->curve.step[i] < third) continue;
    const double rollout = reward.shown(reward.smoothed[reward.index_at(evaluations->curve.step[i])]);
    const double gained = rollout - begin;
    if (gained < settings["gained_share"] * progress->gain) continue;
    ++judged;
    if (evaluations->curve.value[i] < begin + gained / 2) ++behind;
  }
  if (judged < settings["fewest_evaluations"] || behind < settings["share"] * judged) return NotFound{};
  const double late = late_level(*evaluations);
  Observation seen =
      observe(Severity::warning, confidence_of(judged / settings["fewest_evaluations"] + 0.5), reward.first_step,
              reward.last_step,
              reward.name + " rose from " + number(begin) + " to " + number(reward.shown(progress->late.level)) +
                  ", but " + evaluations->name + " is at " + number(late) + ": " + number(behind) + " of " +
                  number(judged) + " evaluations earned less than half of that gain.");
  seen.evidence.push_back(evidence(evaluations->name, evaluations->first_step, evaluations->last_step, late,
                                   reward.shown(progress->late.level), "the median of the last evaluations"));
  return seen;
}

}  // namespace

Finding eval_contradicts_rollout() {
  return {
      .id = "eval-contradicts-rollout",
      .title = "Evaluation does not see what the rollout earned",
      .needs = {Need::curve},
      .doc = kDoc,
      .settings = {{"fewest_evaluations", 5, "evaluations needed; a single bad one means nothing"},
                   {"share", 0.8, "share of them that must lag behind"},
                   {"gained_share", 0.4, "gain of the rollout, as a share of its whole gain, worth comparing with"}},
      .check = check,
      .judged_by = JudgedBy::reward};
}

}  // namespace osler::catalogue
