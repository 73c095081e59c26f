// entropy-bonus-too-small: nothing keeps the policy from deciding too early.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A policy gradient makes what was tried and paid more likely, whatever was not tried. Without a bonus for entropy, or with
exploration that ends too early, the first action that paid a little is soon the only one.

## How it shows
Entropy falls to almost nothing while the reward is still that of the first policy; in groups of answers all are alike.

## What else looks like it
A learning rate that is too high or too many epochs per batch (the divergence of single updates is large as well), a reward
that pays for one action by mistake, success (the reward is high).

## References
- Williams and Peng 1991, Function optimization using connectionist reinforcement learning algorithms.
- Mnih et al. 2016, Asynchronous Methods for Deep Reinforcement Learning.
- Yu et al. 2025, DAPO: entropy collapse and clipping higher.
)";

constexpr double kUsual = 0.01;  // what PPO and A2C are tuned to where they need a bonus at all

std::optional<double> coefficient(const Patient& patient) {
  return configured_number(patient, {"ent_coef", "entropy_coef", "entropy_coeff", "entropy_bonus"});
}

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const auto bonus = coefficient(patient);
  if (bonus && *bonus == 0) found.push_back({1.0, "the entropy coefficient is 0"});
  if (bonus && *bonus >= kUsual) {
    found.push_back({-1.0, "the entropy coefficient of " + number(*bonus) + " is not small"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  const auto bonus = coefficient(patient);
  const double to = bonus && *bonus > 0 ? 5 * *bonus : kUsual;
  const std::string from = bonus ? number(*bonus) : "";
  list.push_back(change("Raise the entropy coefficient" + (bonus ? ": " + from + " -> " : std::string(" to ")) +
                            number(to) + ", and watch that entropy falls slowly rather than not at all.",
                        "ent_coef", from, number(to)));
  if (tunes_language_model(patient)) {
    list.push_back(advice("Sample at temperature 1, and let the ratio rise further than it may fall (clip higher)."));
  } else {
    list.push_back(advice("Explore longer: a slower fall of epsilon, a larger first deviation, several environments."));
  }
  list.push_back(divide_learning_rate(patient, 3));
  return list;
}

}  // namespace

Cause entropy_bonus_too_small() {
  return {"entropy-bonus-too-small",
          "Nothing keeps the policy exploring",
          kDoc,
          -2.6,
          {{"policy-entropy-collapse", 3.5, -1.3, "the policy became certain before it was any good"},
           {"reward-without-variance", 0.6, 0, "answers that are all alike earn alike"},
           {"reward-stuck-from-start", 0.9, 0, "what is never tried is never found"},
           {"reward-plateau", 1.0, 0, "a habit that pays a little ends the search"},
           {"reward-collapse", 0.2, 0, "a policy that no longer explores does not find its way back"},
           {"policy-entropy-explosion", -3.0, 0, "the policy gets more random, not less"}},
          "",
          "Repeat the run with an entropy coefficient of 0.01: if the reward now moves, this is it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
