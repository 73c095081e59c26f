// sparse-reward: the reward is met too seldom to learn from.
#include <algorithm>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A policy learns from differences between what its actions earn. If a random policy practically never meets the reward, or
every answer of a group is wrong, all actions look alike and there is nothing to follow.

## How it shows
The same reward in every episode, or zero but for a stroke of luck; a value function with nothing to explain; groups
without variance.

## What else looks like it
An environment that is faulty (the reward cannot be had at all), exploration that ended too early, a scale of rewards at
which learning is invisible.

## References
- Andrychowicz et al. 2017, Hindsight Experience Replay.
- Burda et al. 2019, Exploration by Random Network Distillation.
- Ng et al. 1999, Policy invariance under reward transformations: shaping.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  constexpr double kMostly = 0.8;
  constexpr double kHardly = 0.05;
  std::vector<Clue> found;
  const Reading* reward = patient.training();
  if (!patient.reinforcement() || reward == nullptr || reward->curve.empty()) return found;
  if (exactly_constant(*reward)) {
    found.push_back({1.2, "every episode earns the same: " + number(reward->shown(reward->end))});
    return found;
  }
  const auto& values = reward->curve.value;
  const double usual = *std::max_element(values.begin(), values.end());  // the worst; rewards are negated
  const auto same =
      static_cast<double>(std::count(values.begin(), values.end(), usual)) / static_cast<double>(values.size());
  if (same > kMostly) {
    found.push_back({2.0, per_cent(same) + " of the logged rewards are exactly " + number(reward->shown(usual))});
  } else if (same < kHardly) {
    found.push_back({-1.2, "rewards differ from one point to the next: the reward is met, only not raised"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  if (tunes_language_model(patient)) {
    return {advice("Train on prompts that the model solves sometimes: between one and seven of eight samples right."),
            advice("Give credit for parts: the format, a step of the way, a test that passes."),
            advice("Sample larger groups, and leave out those without variance rather than step on them.")};
  }
  return {
      advice("Measure how often a random policy meets the reward; below one episode in a hundred, help it."),
      advice("Pay for progress by a potential (the distance that was gained), which does not change the best policy."),
      advice(
          "Begin near the goal and move the start away as the agent succeeds; or show it a few successful episodes."),
      advice("Add a bonus for new states, or relabel what was reached as the goal.")};
}

}  // namespace

Cause sparse_reward() {
  return {
      "sparse-reward",
      "The reward is met too seldom to learn from",
      kDoc,
      -2.2,
      {{"reward-stuck-from-start", 1.9, -0.3, "an agent that never meets the reward cannot raise it"},
       {"reward-without-variance", 2.7, 0, "all answers fail alike, so none is better than another"},
       {"value-function-not-learning", 0.7, 0, "returns that hardly differ cannot be explained"},
       {"policy-entropy-explosion", 0.9, 0, "where the task pays nothing, any bonus decides"},
       {"policy-entropy-collapse", 0.1, 0, "the policy settled on something before it met the reward"},
       {"reward-collapse", -2.0, 0, "the reward had been met, and often"},
       {"reward-oscillating", -1.5, 0, "the reward is met again and again"},
       {"reward-worse-than-start", -0.9, 0, "the first policy earned more, so there is something to earn"}},
      "",
      "Count the episodes, or groups of answers, in which the untrained policy earns anything: hardly any confirms it.",
      clues,
      nullptr,
      remedies};
}

}  // namespace osler::catalogue::cause
