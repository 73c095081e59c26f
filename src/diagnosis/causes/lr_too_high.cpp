// lr-too-high: the step is too long for the curvature.
#include <algorithm>
#include <cmath>

#include "diagnosis/configured.h"
#include "diagnosis/evidence/breakage.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/rates.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Gradient descent is stable only while the learning rate stays below 2 / lambda, lambda being the largest curvature it
meets. Beyond that each step overshoots by more than it gains: the loss swings, climbs, or overflows. A rate that was
right for the first half of training can be too high for the second, when the valley has become narrow.

## How it shows
NaN within the first steps, divergence, swings throughout or late, a gradient norm that bounces or runs away, updates
of a tenth of the weights and more, clipping that is always active.

## What else looks like it
Missing warm-up (only the first steps are bad), a bad batch (one spike, then recovery), a signal that grows from layer
to layer (the norm is large at any learning rate), overflow in half precision (the loss scale collapses), batches that
are too small (the swings average out over more samples).

## References
- LeCun, Bottou, Orr, Mueller 1998, Efficient BackProp.
- Smith 2017, Cyclical Learning Rates for Training Neural Networks: the range test.
- Cohen et al. 2021, Gradient Descent on Neural Networks Typically Occurs at the Edge of Stability.
)";

void weigh_level(const Patient& patient, std::vector<Clue>& clues) {
  constexpr double kLow = 1e-5;
  constexpr double kPerDecade = 1.8;  // log-odds for each factor of ten above what is usual
  const auto peak = peak_learning_rate(patient);
  if (!peak || !(*peak > 0)) return;
  const std::string optimizer(configured_text(patient, {"optimizer"}).value_or(""));
  const double usual = highest_usual_rate(patient);
  if (*peak > usual) {
    clues.push_back({0.6 + kPerDecade * std::log10(*peak / usual),
                     "the learning rate reaches " + number(*peak) + "; " +
                         (optimizer.empty() ? "working rates of any optimizer" : "working rates of " + optimizer) +
                         " end at about " + number(usual)});
  }
  if (*peak <= kLow) clues.push_back({-1.2, "the learning rate never exceeds " + number(*peak)});
}

/// A loss that is broken from its first value on, at a rate at which weights hardly move in so few steps.
void weigh_first_steps(const Patient& patient, const Verdicts& verdicts, std::vector<Clue>& clues) {
  constexpr double kPerDecade = 1.2;  // log-odds for each factor of ten below 1
  constexpr double kMost = 3;
  const auto peak = peak_learning_rate(patient);
  if (!peak || !(*peak > 0) || *peak >= 1 || verdicts.found("loss-nonfinite-at-start") == nullptr) return;
  clues.push_back({-std::min(kMost, kPerDecade * -std::log10(*peak)),
                   "the first steps, at a rate of " + number(*peak) + ", hardly move the weights"});
}

/// The rate at the step where the trouble began, against its schedule.
void weigh_moment(const Patient& patient, const Verdicts& verdicts, std::vector<Clue>& clues) {
  const auto schedule = rate_schedule(patient);
  const auto harm = first_harm(verdicts);
  if (!schedule || !harm) return;
  const double then = learning_rate_at(patient, static_cast<double>(*harm)).value_or(schedule->peak);
  if (then > 3 * schedule->start) {
    clues.push_back({0.8, "the learning rate had risen from " + number(schedule->start) + " to " + number(then) +
                              " when it began"});
  }
  if (then < 0.1 * schedule->peak) {
    clues.push_back({-1.0, "the learning rate was down to " + number(then) + " when it began, after a peak of " +
                               number(schedule->peak)});
  }
}

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  weigh_level(patient, found);
  weigh_moment(patient, verdicts, found);
  weigh_first_steps(patient, verdicts, found);
  weigh_break(patient, 0.8, -1.2, found);
  if (fine_tuning(patient) && verdicts.found("loss-stuck-from-start") != nullptr) {
    constexpr double kForTuning = 5e-5;  // Devlin et al. 2019: 2e-5 to 5e-5
    const auto peak = peak_learning_rate(patient);
    if (peak && *peak >= kForTuning) {
      found.push_back({2.2, "a rate of " + number(*peak) + " can undo what was learned before; 2e-5 to 5e-5 is usual"});
    }
  }
  if (const auto leap = leapt_at_once(patient, verdicts)) found.push_back({-0.8, *leap});
  if (break_recovered(verdicts)) found.push_back({-1.0, "the loss became finite again by itself"});
  if (const auto signal = first_signal(patient); signal && first_harm(verdicts)) {
    if (signal->keeps()) found.push_back({1.0, signal->in_words() + ": it broke under the steps"});
    if (signal->grows()) found.push_back({-1.5, signal->in_words()});
  }
  if (creeps_back(patient, verdicts)) {
    found.push_back({-0.8, "the loss crept back up smoothly, and validation with it: long steps would make it jump"});
  }
  const Observation* swings = verdicts.found("loss-oscillating");
  if (swings != nullptr && on_validation(patient, *swings)) {
    found.push_back({-1.2, "only validation swings, the training loss is calm"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  const auto peak = peak_learning_rate(patient);
  if (peak && *peak == 0) return "the learning rate is zero throughout";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  const bool broken = verdicts.found("loss-nonfinite-at-start") != nullptr ||
                      verdicts.found("loss-diverging") != nullptr || verdicts.found("loss-nonfinite-later") != nullptr;
  std::vector<Remedy> list;
  if (verdicts.found("reward-collapse") != nullptr) list.push_back(return_to_checkpoint(verdicts));
  const bool late = qualifier(verdicts.found("loss-oscillating"), "extent") == "late" ||
                    (verdicts.found("late-loss-variance") != nullptr && verdicts.found("loss-oscillating") == nullptr);
  if (late) list.push_back(advice("It worked early and fails late: decay sooner, by cosine to a tenth or less."));
  const bool far_off = broken || verdicts.found("updates-too-large") != nullptr;
  list.push_back(divide_learning_rate(patient, far_off ? 10 : 3));
  list.push_back(clip_gradients(patient));
  if (!patient.reinforcement()) list.push_back(test_learning_rates());
  return list;
}

}  // namespace

Cause lr_too_high() {
  return {
      "lr-too-high",
      "The learning rate is too high",
      kDoc,
      -1.3,
      {{"underfitting", 0.1, 0, "steps that are too long settle high above the valley"},
       {"confidence-without-learning", 0.5, 0, "the loss comes back from its first leap, the answers do not"},
       {"loss-beyond-chance", 1.5, 0, "a step that is too long throws the outputs far off"},
       {"edge-of-stability", 1.0, -0.5, "the curvature is at the limit of what the steps bear"},
       {"cannot-overfit-one-batch", 0.8, 0, "steps that overshoot do not settle on one batch either"},
       {"attention-entropy-collapse", 1.0, 0, "queries and keys grow too fast"},
       {"loss-nonfinite-at-start", 2.9, 0, "steps that are too long overflow at once"},
       {"loss-nonfinite-later", 1.1, 0, "steps that are too long end in overflow"},
       {"loss-diverging", 3.2, 0, "each step overshoots by more than it gains"},
       {"loss-oscillating", 2.9, 0, "the optimizer bounces across the valley"},
       {"late-loss-variance", 3.7, 0, "steps that suited the start are too long for the end"},
       {"gradient-norm-oscillating", 3.7, 0, "overshooting alternates between steep and flat places"},
       {"exploding-gradients", 2.2, -0.1, "overshooting leads into ever steeper places"},
       {"exploding-layer", 0.8, 0, "steps too long for one layer throw it off first"},
       {"updates-too-large", 3.1, -0.6, "each update changes the weights by a large share"},
       {"clipping-always", 1.1, 0, "large gradients at every step are what overshooting meets"},
       {"weight-norm-exploding", 2.1, 0, "long steps inflate the weights"},
       {"no-warmup", 1.1, 0, "the full rate comes before the optimizer knows the scale of the gradients"},
       {"loss-spikes", 2.0, 0, "a step near the limit of stability can leap and recover"},
       {"loss-scale-collapsing", 0.5, 0, "overshooting drives activations beyond the half-precision range"},
       {"loss-stuck-from-start", 0.9, 0, "a first step that is too long can saturate every unit for good"},
       {"loss-stuck-after-drop", 1.0, 0, "the optimizer circles above the valley instead of descending into it"},
       {"exploding-activations", 0.6, 0, "weights inflated by long steps make huge outputs"},
       {"dead-neurons", 0.7, 0, "a step that is too long pushes units below zero for good"},
       {"saturated-activations", 0.5, 0, "long steps push units to the ends of their range"},
       {"kl-blow-up", 3.6, -0.9, "each update carries the policy far from the data it rests on"},
       {"reward-collapse", 2.6, 0, "one update that is too long ruins the policy, and the data that follow"},
       {"reward-oscillating", 2.4, 0, "the policy leaps past what it had found"},
       {"value-loss-explosion", 2.6, 0, "a critic that overshoots meets ever larger errors"},
       {"q-value-divergence", 2.2, 0, "a critic that overshoots raises its own targets"},
       {"reward-worse-than-start", 1.7, 0, "the first updates ruin the policy"},
       {"policy-entropy-collapse", 2.2, 0, "one long step makes an action certain"},
       {"policy-entropy-explosion", 0.6, 0, "long steps take a language model apart"},
       {"completions-truncated", 2.6, 0, "a model that was taken apart no longer ends its answers"},
       {"reward-without-variance", 1.6, 0, "a model that was taken apart fails every time"},
       {"discriminator-overpowers-generator", 0.6, 0, "at a high rate the simpler game is won first"},
       {"predicts-one-class", 2.0, 0, "one step that is too long can leave one answer for all"},
       {"poor-initialization", -1.0, 0, "the weights did not fit before the first step"},
       {"epoch-sawtooth", -0.6, 0, "the swings keep time with the epochs"},
       {"loss-too-slow", -1.1, 0, "a small steady slope is the opposite of overshooting"},
       {"vanishing-gradients", -0.4, 0, "the gradient is too small for the step to be too long"},
       {"updates-too-small", -2.0, 0, "the updates are tiny"},
       {"overfitting", -0.7, 0, "training goes on improving, so the steps are not too long"}},
      "lr-range-test",
      "Run the LR range test, or repeat the first steps with a tenth of the rate: if the symptom is gone, this is it.",
      clues,
      impossible,
      remedies};
}

}  // namespace osler::catalogue::cause
