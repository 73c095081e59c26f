// lr-too-low: the steps are too short to get anywhere in the time there is.
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Progress per step is about the learning rate times the squared gradient. With a rate that is a hundred times too small
everything works and nothing arrives: the run ends long before the loss does. A rate of zero (an integer division in a
warm-up formula, a scheduler that was never stepped) is the extreme of it.

## How it shows
A steady, significant, tiny slope; or no visible movement at all while the gradient norm is of an ordinary size.
Updates are below a hundred-thousandth of the weights.

## What else looks like it
Fading gradients (the norm is tiny), frozen parameters (validation repeats to the last digit), a clipping threshold far
below the norms (it shrinks every step), labels without information (the rate is ordinary and nothing moves).

## References
- Smith 2017, Cyclical Learning Rates for Training Neural Networks: the range test.
- Bengio 2012, Practical Recommendations for Gradient-Based Training of Deep Architectures.
- Goyal et al. 2017, Accurate, Large Minibatch SGD: the linear scaling rule.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (const auto better = better_than_guessing(patient))
    found.push_back({-1.0, *better + ": something was learned at once"});
  // Adam rarely works below 1e-6 or SGD below 1e-4 from scratch; nothing moves below 1e-7.
  const auto peak = peak_learning_rate(patient);
  if (peak && *peak > 0) {
    const std::string level = "the learning rate never exceeds " + number(*peak);
    constexpr double kLow = 2e-5;
    if (*peak <= 1e-7) found.push_back({3.0, level + ", too little for any optimizer"});
    if (*peak > 1e-7 && *peak <= 5e-6) found.push_back({1.8, level});
    if (*peak > 5e-6 && *peak <= kLow && !fine_tuning(patient)) found.push_back({1.8, level});
    if (*peak > 5e-5 && *peak < 0.01) {
      found.push_back({*peak < 1e-3 ? -0.8 : -1.2, "the learning rate of " + number(*peak) + " is usual"});
    }
    if (*peak >= 0.01) found.push_back({-1.6, "the learning rate reaches " + number(*peak)});
  }
  if (const auto above = stays_above_chance(patient); above && verdicts.found("loss-stuck-from-start") != nullptr) {
    found.push_back({1.7, *above + ": the steps are too short even for that"});
  }
  if (verdicts.found("loss-stuck-from-start") != nullptr || verdicts.found("loss-too-slow") != nullptr) {
    weigh_ordinary_norms(patient, verdicts, 0.2, found);
  }
  const Reading* training = patient.training();
  const bool rate_is_zero = peak && *peak == 0;
  if (training != nullptr && !training->negated && exactly_constant(*training) && !rate_is_zero) {
    found.push_back({-1.0, "the loss repeats to the last digit: even short steps would change it"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  const auto peak = peak_learning_rate(patient);
  std::vector<Remedy> list;
  if (peak && *peak == 0) {
    list.push_back(change("Give the optimizer a learning rate: 1e-3 for Adam, 0.1 for SGD with momentum to begin with.",
                          "lr", "0", "0.001"));
  } else {
    const bool far = verdicts.found("loss-stuck-from-start") != nullptr || (peak && *peak <= 1e-6);
    list.push_back(multiply_learning_rate(patient, far ? 100 : 10));
  }
  if (!patient.reinforcement()) list.push_back(test_learning_rates());
  list.push_back(advice("Scale the rate with the batch: twice the batch, twice the rate (for Adam its square root)."));
  return list;
}

}  // namespace

Cause lr_too_low() {
  return {"lr-too-low",
          "The learning rate is too low",
          kDoc,
          -1.6,
          {{"loss-beyond-chance", 1.2, 0, "what starts too high comes down too slowly"},
           {"saddle-point", -1.0, 0, "the gradient is near zero, so it is not the rate"},
           {"edge-of-stability", -2.0, 0, "the steps are as long as the curvature allows"},
           {"cannot-overfit-one-batch", 0.8, 0, "short steps do not get there in the steps given"},
           {"loss-too-slow", 2.2, -0.2, "the loss falls all the time, only far too slowly"},
           {"loss-stuck-from-start", 2.3, 0, "steps this short do not show within the run"},
           {"updates-too-small", 3.2, -0.8, "the updates are far below a thousandth of the weights"},
           {"learning-rate-zero", 3.3, 0, "a rate of zero moves nothing"},
           {"underfitting", 2.1, 0, "training may simply not have got far enough"},
           {"loss-stuck-after-drop", 0.1, 0, "what is left to learn may need longer steps"},
           {"learning-rate-spent", 0.1, 0, "the rate that is left does not move the loss"},
           {"clipping-never", 0.5, 0, "the gradients leave room for longer steps"},
           {"reward-stuck-from-start", 1.2, -0.3, "a policy that hardly changes earns what it earned"},
           {"value-function-not-learning", 0.7, 0, "a critic that hardly moves stays at its first guess"},
           {"kl-blow-up", -2.5, 0, "the policy leaps"},
           {"reward-collapse", -1.5, 0, "short steps do not ruin a policy"},
           {"vanishing-gradients", -0.9, 0, "the gradient is the small factor, not the rate"},
           {"vanishing-by-depth", -0.9, 0, "only the early layers stand still"},
           {"exploding-gradients", -1.3, 0, "gradients that run away need shorter steps"},
           {"loss-diverging", -2.5, 0, "short steps do not diverge"},
           {"loss-oscillating", -1.6, 0, "short steps do not overshoot"},
           {"updates-too-large", -2.5, 0, "the updates are large"}},
          "lr-range-test",
          "Run the LR range test; if the loss falls fastest at a rate ten times the present one, this is it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
