// entropy-bonus-too-large: being random pays better than the task.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The objective is the return plus a coefficient times the entropy of the policy. Where the coefficient is large beside the
advantages, or the reward gives none, the gradient of the bonus is all that is left: the policy becomes wider with every
update.

## How it shows
Entropy or the deviation of the actions grows steadily, past where it began; the reward stays or falls. In language models
the text dissolves, and answers run into the longest length.

## What else looks like it
A sparse reward (any bonus is too large beside nothing), a learning rate that is too high (the divergence of single updates
is large as well), a reward scale that makes advantages tiny.

## References
- Andrychowicz et al. 2021, What Matters in On-Policy Reinforcement Learning?
- Haarnoja et al. 2018, Soft Actor-Critic Algorithms and Applications: the temperature.
)";

constexpr double kUsual = 0.01;  // what PPO and A2C are tuned to in continuous and discrete tasks: 0 to 0.01

std::optional<double> coefficient(const Patient& patient) {
  return configured_number(patient, {"ent_coef", "entropy_coef", "entropy_coeff", "entropy_bonus"});
}

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const auto bonus = coefficient(patient);
  if (bonus && *bonus > 2 * kUsual) {
    found.push_back({1.4, "the entropy coefficient is " + number(*bonus) + ", where 0 to 0.01 is usual"});
  }
  if (bonus && *bonus > 0 && *bonus <= kUsual / 10) {
    found.push_back({-1.0, "the entropy coefficient of " + number(*bonus) + " is small"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  if (coefficient(patient) == 0.0) return "the entropy coefficient is 0: nothing pays for being random";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  if (const auto bonus = coefficient(patient)) {
    list.push_back(
        change("Divide the entropy coefficient by 10: " + number(*bonus) + " -> " + number(*bonus / 10) + ".",
               "ent_coef", number(*bonus), number(*bonus / 10)));
  } else {
    list.push_back(change("Set the entropy coefficient to 0, and raise it only if the policy stops exploring.",
                          "ent_coef", "", "0"));
  }
  if (tunes_language_model(patient)) {
    list.push_back(advice("Hold the policy to its reference with a KL penalty, and bound the ratio from above."));
  } else {
    list.push_back(
        advice("Bound the deviation of a Gaussian policy: clamp its logarithm, or let it fall on a schedule."));
    list.push_back(advice("Normalise advantages, so that the bonus stands beside numbers of size 1."));
  }
  return list;
}

}  // namespace

Cause entropy_bonus_too_large() {
  return {"entropy-bonus-too-large",
          "The bonus for being random is too large",
          kDoc,
          -2.3,
          {{"policy-entropy-explosion", 4.0, -1.6, "the policy gets more random while the task pays no more"},
           {"completions-truncated", 0.7, 0, "text that dissolves does not end"},
           {"reward-stuck-from-start", 0.8, 0, "a policy that is paid for chance does not learn the task"},
           {"reward-collapse", 0.5, 0, "the bonus wins over what had been learned"},
           {"reward-worse-than-start", 0.2, 0, "a wider policy earns less than the first one"},
           {"policy-entropy-collapse", -3.0, 0, "the policy has become less random, not more"}},
          "",
          "Repeat the run with an entropy coefficient of 0: if entropy no longer grows, this is it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
