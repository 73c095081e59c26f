// target-network-too-fast: the critic chases targets that move with it.
#include <algorithm>

#include "diagnosis/configured.h"
#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A critic that bootstraps learns from its own predictions. A target network holds them still for a while; where it follows
too fast, or is missing, every error comes back as a target, and the policy seeks out where it is largest.

## How it shows
Q values beyond any return that was ever earned, a critic's loss that grows by orders of magnitude, a reward that falls or
swings meanwhile.

## What else looks like it
A learning rate that is too high for the critic, rewards of an unsuitable size, a discount so near 1 that values add up
over thousands of steps.

## References
- Mnih et al. 2015, Human-level control through deep reinforcement learning: the target network.
- Fujimoto et al. 2018, Addressing Function Approximation Error in Actor-Critic Methods.
- van Hasselt et al. 2018, Deep Reinforcement Learning and the Deadly Triad.
)";

constexpr double kUsualShare = 0.005;  // Polyak share of SAC, TD3 and DDPG
constexpr double kFewSteps = 500;      // DQN on small tasks copies its network every 500 to 10,000 steps

/// The share of the online network that goes into its target at each update; 1 means copies at intervals.
std::optional<double> share(const Patient& patient) {
  if (const auto tau = configured_number(patient, {"tau", "soft_tau", "target_tau"})) return tau;
  if (const auto kept = configured_number(patient, {"polyak"})) return 1 - *kept;
  return std::nullopt;
}

std::optional<double> interval(const Patient& patient) {
  return configured_number(patient, {"target_update_interval", "target_network_frequency", "target_update_freq",
                                     "target_network_update_freq"});
}

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const auto tau = share(patient);
  const auto steps = interval(patient);
  const bool copies = tau && *tau >= 1;
  if (tau && !copies && *tau > 4 * kUsualShare) {
    found.push_back(
        {1.4, "the target takes over " + per_cent(*tau) + " of the network at each step, where 0.5 % is usual"});
  }
  if (tau && *tau <= 2 * kUsualShare) found.push_back({-0.8, "the target follows slowly (tau " + number(*tau) + ")"});
  if (steps && (copies || !tau) && *steps < kFewSteps) {
    found.push_back({1.2, "the target network is copied every " + number(*steps) + " steps"});
  }
  if (steps && *steps > 4 * kFewSteps) found.push_back({-0.6, "the target is held for " + number(*steps) + " steps"});
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  const auto& roles = patient.roles();
  const bool on_policy = !roles.in(Role::clip_fraction).empty() || !roles.in(Role::explained_variance).empty();
  if (on_policy && roles.in(Role::q_value).empty()) return "an on-policy learner has no target network";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  const auto tau = share(patient);
  const auto steps = interval(patient);
  if (tau && *tau < 1 && *tau > kUsualShare) {
    list.push_back(change("Let the target follow more slowly: tau " + number(*tau) + " -> " + number(kUsualShare) + ".",
                          "tau", number(*tau), number(kUsualShare)));
  } else if (steps && *steps > 0) {
    list.push_back(change("Hold the target longer: every " + number(*steps) + " -> " + number(10 * *steps) + " steps.",
                          "target_update_interval", number(*steps), number(10 * *steps)));
  } else {
    list.push_back(
        change("Let the target follow slowly: tau 0.005, or a copy every thousand updates.", "tau", "", "0.005"));
  }
  list.push_back(advice("Take the smaller of two critics as the target, and a Huber loss for the errors."));
  if (const auto gamma = configured_number(patient, {"gamma", "discount", "discount_factor"}); gamma && *gamma > 0.99) {
    list.push_back(
        change("Shorten the horizon: gamma " + number(*gamma) + " -> 0.98.", "gamma", number(*gamma), "0.98"));
  }
  list.push_back(divide_learning_rate(patient, 3));
  return list;
}

}  // namespace

Cause target_network_too_fast() {
  return {"target-network-too-fast",
          "The target network follows the critic too fast",
          kDoc,
          -2.2,
          {{"q-value-divergence", 3.1, -0.8, "errors come back as targets and grow"},
           {"value-loss-explosion", 1.6, 0, "targets that run away leave ever larger errors"},
           {"reward-oscillating", 0.8, 0, "values chase each other, and the policy follows them"},
           {"reward-worse-than-start", 0.7, 0, "the policy seeks out what the critic overrates"},
           {"reward-collapse", 0.5, 0, "the policy follows values that mean nothing"},
           {"kl-blow-up", -1.0, 0, "methods that log this have no target network"}},
          "",
          "Log Q on a fixed batch of states with the target frozen: if it stops growing, this is it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
