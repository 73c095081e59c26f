// no-clipping: nothing stops the one huge gradient.
#include "diagnosis/clipping.h"
#include "diagnosis/configured.h"
#include "diagnosis/evidence/breakage.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Loss surfaces of deep and recurrent networks have cliffs. At their foot the gradient is hundreds of times its usual
size, and without a limit one step undoes thousands. Clipping by the global norm keeps the direction and bounds the
length; clipping by value changes the direction as well.

## How it shows
Leaps of the gradient norm followed by a spike, a climb or NaN in the loss; calm stretches in between.

## What else looks like it
A learning rate that is too high (large norms all the time), corrupt samples (NaN in the inputs), overflow in half
precision.

## References
- Pascanu, Mikolov, Bengio 2013, On the Difficulty of Training Recurrent Neural Networks.
- Zhang et al. 2020, Why Gradient Clipping Accelerates Training.
- Brock et al. 2021, High-Performance Large-Scale Image Recognition Without Normalization: adaptive clipping.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (clip_limit(patient) == 0.0) found.push_back({1.0, "the configuration switches clipping off"});
  weigh_break(patient, 0.4, -1.2, found);
  if (const auto leap = leapt_at_once(patient, verdicts)) found.push_back({0.8, *leap});
  if (break_recovered(verdicts)) found.push_back({-0.8, "the loss became finite again by itself"});
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts& verdicts) {
  if (verdicts.found("clipping-always") != nullptr) return "gradients are clipped, on most steps";
  if (const auto clipping = clipping_of(patient)) {
    return "gradients are clipped at " + number(clipping->limit) + " (from " + clipping->limit_from + ")";
  }
  if (const auto limit = clip_limit(patient); limit && *limit > 0) return "gradients are clipped at " + number(*limit);
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  return {clip_gradients(patient), divide_learning_rate(patient, 3), return_to_checkpoint(verdicts),
          advice("Log the norm before clipping: it tells when the threshold is wrong.")};
}

}  // namespace

Cause no_clipping() {
  return {"no-clipping",
          "Gradients are not clipped",
          kDoc,
          -1.8,
          {{"exploding-gradients", 3.7, -0.8, "nothing bounds the gradient when it leaps"},
           {"exploding-layer", 1.0, 0, "nothing bounds the gradient of one layer"},
           {"loss-nonfinite-later", 1.4, 0, "one unbounded step is enough for NaN"},
           {"loss-diverging", 1.6, 0, "one unbounded step can throw the weights off for good"},
           {"loss-spikes", 1.9, 0, "a large gradient acts at full length"},
           {"gradient-norm-oscillating", 0.9, 0, "the norm leaps freely"},
           {"loss-nonfinite-at-start", 0.1, 0, "the first gradients are the largest"},
           {"weight-norm-exploding", 0.9, 0, "unbounded updates inflate the weights"},
           {"updates-too-large", 0.7, 0, "nothing bounds the updates"},
           {"late-loss-variance", 0.5, 0, "late leaps go unchecked"},
           {"loss-scale-collapsing", 0.3, 0, "large gradients overflow half precision"},
           {"value-loss-explosion", 1.2, 0, "one huge error of the critic acts at full length"},
           {"reward-collapse", 0.4, 0, "one unbounded step can ruin a policy"},
           {"vanishing-gradients", -2.5, 0, "the gradient is small"},
           {"loss-oscillating", -0.1, 0, "steady swings are not single leaps"}},
          "",
          "Resume before the leap with clipping at the median norm: if the run passes, this is it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
