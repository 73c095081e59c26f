// exploding-signal: each layer or time step amplifies the signal until it overflows.
#include "diagnosis/evidence/breakage.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The chain rule multiplies one factor per layer or time step. Factors above one multiply up: the gradient of a deep or
recurrent network grows exponentially, one huge update throws the weights to where the next gradient is larger still,
and a few steps later the loss is not a number.

## How it shows
A gradient norm that runs away or leaps to hundreds of times its usual size, a loss that climbs within a few steps and
ends in NaN or Inf, after a good start.

## What else looks like it
A learning rate that is too high (a tenth of it cures everything), a single bad batch (the norm returns), a bad
operation such as log(0) (the loss was ordinary the step before), overflow in half precision.

## References
- Pascanu, Mikolov, Bengio 2013, On the Difficulty of Training Recurrent Neural Networks.
- Zhang, Dauphin, Ma 2019, Fixup Initialization: Residual Learning Without Normalization.
- Philipp, Song, Carbonell 2018, The Exploding Gradient Problem Demystified.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  weigh_break(patient, 0.8, -1.2, found);
  if (const auto huge = first_norm_huge(patient)) found.push_back({1.8, *huge});
  if (break_recovered(verdicts)) found.push_back({-1.0, "the loss became finite again by itself"});
  if (const auto signal = first_signal(patient)) {
    if (signal->grows()) found.push_back({2.0, signal->in_words()});
    if (signal->keeps()) found.push_back({-2.0, signal->in_words()});
  }
  const Reading* norm = patient.gradient_norm();
  if (norm != nullptr && norm->nonfinite > 0) {
    found.push_back({0.4, norm->name + " itself is not finite from " + at_step(norm->first_nonfinite_step) + " on"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  return {clip_gradients(patient), divide_learning_rate(patient, 10), return_to_checkpoint(verdicts),
          normalise_layers(), initialise_for_activation()};
}

}  // namespace

Cause exploding_signal() {
  return {"exploding-signal",
          "The gradient grows from layer to layer until it overflows",
          kDoc,
          -2.0,
          {{"loss-beyond-chance", 0.9, 0, "a signal that grows from layer to layer ends in huge outputs"},
           {"exploding-activations", 2.9, -0.8, "activations grow beyond any sensible size"},
           {"loss-nonfinite-later", 3.3, 0, "a run-away gradient ends in NaN after a good start"},
           {"exploding-gradients", 2.9, -1.0, "the gradient norm runs away"},
           {"exploding-layer", 2.4, 0, "one layer's gradient lies far above all others"},
           {"loss-diverging", 0.6, 0, "one huge update leads to the next"},
           {"weight-norm-exploding", 1.5, 0, "the weights that amplify the signal keep growing"},
           {"loss-scale-collapsing", 0.8, 0, "gradients this large overflow half precision"},
           {"clipping-always", 0.6, 0, "the gradient is above the threshold at every step"},
           {"initial-loss-wrong", 2.4, 0, "outputs that are amplified make a huge first loss"},
           {"loss-nonfinite-at-start", 0.7, 0, "a network that amplifies strongly overflows at once"},
           {"gradient-norm-oscillating", 0.4, 0, "the norm leaps between small and large"},
           {"loss-spikes", 0.1, 0, "leaps of the gradient leave spikes in the loss"},
           {"late-loss-variance", 0.1, 0, "leaps become more frequent as the weights grow"},
           {"vanishing-gradients", -2.5, 0, "the gradient fades, it does not grow"},
           {"clipping-never", -1.5, 0, "the norms stay far below the threshold"}},
          "signal-propagation",
          "Look at the gradient norm per layer before the break: growth from layer to layer confirms it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
