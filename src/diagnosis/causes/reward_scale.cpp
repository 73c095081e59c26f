// reward-scale: returns of a size that the value function cannot learn.
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The value function is a network that starts near zero and learns in steps of a size made for targets near one. Returns in
the thousands make errors in the millions: gradients of the value loss drown those of the policy wherever they share
layers, and clipping leaves next to nothing. Returns of a thousandth drown in noise.

## How it shows
A value loss in the thousands or millions that does not come down, an explained variance near zero, a critic's loss that
grows by orders of magnitude.

## What else looks like it
A diverging critic whose targets rest on itself (values far beyond any return), a learning rate that is too high.

## References
- Engstrom et al. 2020, Implementation Matters in Deep Policy Gradients: A Case Study on PPO and TRPO.
- van Hasselt et al. 2016, Learning values across many orders of magnitude.
)";

constexpr double kLarge = 1000;
constexpr double kTiny = 1e-3;

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const Reading* reward = patient.training();
  if (!patient.reinforcement() || reward == nullptr) return found;
  const double size = reward->level;
  if (size > kLarge) found.push_back({1.4, "rewards are of size " + number(size) + ", where 1 to 10 is easy to learn"});
  if (size > 0 && size < kTiny) found.push_back({1.0, "rewards are of size " + number(size)});
  if (size > 0.1 && size < 100) found.push_back({-1.2, "rewards of size " + number(size) + " are easy to learn"});
  if (const auto loss = figure(patient, Role::value_loss, 3); loss && late_level(*loss) > 1e4) {
    found.push_back({0.8, loss->name + " of " + number(late_level(*loss)) + " is what unscaled returns give"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  const Reading* reward = patient.training();
  const double size = reward == nullptr ? 0 : reward->level;
  if (size > kLarge || (size > 0 && size < kTiny)) {
    const double factor = std::pow(10, std::round(std::log10(size)) - 1);
    list.push_back(change("Divide every reward by " + number(factor) + ", so that returns are of size 10.",
                          "reward_scale", "1", number(1 / factor)));
  }
  list.push_back(switch_to("Normalise rewards by a running deviation of the returns.", "normalize_reward", "on"));
  list.push_back(advice("Give policy and value function networks of their own, so that one cannot drown the other."));
  return list;
}

}  // namespace

Cause reward_scale() {
  return {"reward-scale",
          "Rewards are of a size that cannot be learned",
          kDoc,
          -2.9,
          {{"value-function-not-learning", 1.7, -0.9, "errors of unscaled returns never become small"},
           {"value-loss-explosion", 1.5, 0, "errors grow with the square of what is predicted"},
           {"q-value-divergence", 0.6, 0, "large targets make large steps"},
           {"kl-blow-up", 0.5, 0, "gradients of the value loss move the shared layers"},
           {"reward-stuck-from-start", 0.8, 0, "the policy's gradient drowns in that of the value loss"}},
          "",
          "Normalise the rewards and repeat the first tenth: a value loss that now falls confirms it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
