// environment-bug: the world, or the judge, does not do what its author meant.
#include "diagnosis/evidence/agent.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The environment ignores the action or clips it to nothing, the reward has the wrong sign or pays for ending early, an
episode never ends or ends at once, observations are stale. For language models the grader does not find the answer, or
the template lacks the token that ends one.

## How it shows
A reward that is the same whatever is done, episodes of one fixed length, a policy that earns less the longer it learns,
evaluation that contradicts the rollout.

## What else looks like it
A sparse reward (a random policy meets it once in a while), a diverged critic, a learning rate that is too high.

## References
- Henderson et al. 2018, Deep Reinforcement Learning that Matters.
- Amodei et al. 2016, Concrete Problems in AI Safety: rewards that pay for the wrong thing.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const Reading* reward = patient.training();
  if (!patient.reinforcement() || reward == nullptr || reward->curve.empty()) return found;
  if (exactly_constant(*reward)) {
    found.push_back({1.2, reward->name + " is " + number(reward->shown(reward->end)) + " whatever the agent does"});
  }
  const auto length = figure(patient, Role::episode_length, 5);
  if (length && exactly_constant(*length)) {
    found.push_back({0.6, "every episode lasts " + number(length->end) + " steps: none ends by what the agent does"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  if (tunes_language_model(patient)) {
    return {
        advice("Grade twenty answers by hand, right and wrong ones, and compare with what the grader gave them."),
        advice("Print one prompt and one answer as tokens: the template must end with the token that ends an answer."),
        advice("Compute the reward of a known right answer: it must be the largest there is.")};
  }
  std::vector<Remedy> list;
  if (verdicts.found("reward-worse-than-start") != nullptr) {
    list.push_back(advice("Check the sign of the reward, and what ending an episode at once earns: it must not pay."));
  }
  list.push_back(
      advice("Let a random and a scripted policy play ten episodes each: their rewards must differ as expected."));
  list.push_back(
      advice("Check the ranges: actions as the environment gets them, observations as the policy gets them."));
  list.push_back(
      advice("Tell an episode that ended from one that was cut off by time: only the first has no future value."));
  return list;
}

}  // namespace

Cause environment_bug() {
  return {
      "environment-bug",
      "The environment or the reward function is faulty",
      kDoc,
      -2.8,
      {{"reward-worse-than-start", 2.5, 0, "what is learned earns less: the signal may point the wrong way"},
       {"reward-stuck-from-start", 1.0, -0.4, "actions that do not reach the world change nothing"},
       {"eval-contradicts-rollout", 1.2, 0, "the two worlds may differ"},
       {"completions-truncated", 1.0, 0, "a template without an end token gives the model no way to stop"},
       {"reward-without-variance", 1.0, 0, "a grader that never finds the answer gives all the same"},
       {"value-function-not-learning", 0.7, 0, "returns that do not depend on what is observed cannot be explained"},
       {"reward-hacking", 1.2, 0, "the reward pays for something that is not the task"},
       {"reward-collapse", -0.8, 0, "the task had been learned in this environment"},
       {"policy-entropy-explosion", -0.3, 0, "the bonus explains what is seen"}},
      "",
      "Play the environment by hand, or grade known answers: a reward other than expected confirms it.",
      clues,
      nullptr,
      remedies};
}

}  // namespace osler::catalogue::cause
