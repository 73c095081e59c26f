// vanishing-signal: depth and activation shrink the gradient before it reaches the early layers.
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Going backward, each layer multiplies the gradient by the slope of its activation and by its weights. A sigmoid's slope
is at most 0.25; with small weights or great depth the product shrinks exponentially, and the early layers receive
nothing.

## How it shows
The loss stands still from the start or creeps; the global gradient norm is tiny, or the early layers' norms lie orders
of magnitude below the late layers'.

## What else looks like it
A learning rate that is too low or spent (the gradient is alike in all layers), frozen parameters or a detached graph
(gradients exactly zero), dead units, a loss at its floor.

## References
- Hochreiter 1991, Untersuchungen zu dynamischen neuronalen Netzen; Bengio, Simard, Frasconi 1994.
- Glorot and Bengio 2010, Understanding the Difficulty of Training Deep Feedforward Neural Networks.
- He et al. 2016, Deep Residual Learning for Image Recognition.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (fine_tuning(patient)) found.push_back({-1.0, "it starts from weights that were trained before"});
  if (norms_all_zero(patient)) {
    found.push_back({-3.0, "every gradient norm is exactly zero: a fading signal is small, not absent"});
  }
  if (const auto classes = stays_at_chance(patient, 0.004)) {
    found.push_back({0.6, "the loss is exactly ln(" + std::to_string(*classes) + "): the outputs ignore the inputs"});
  }
  if (const auto signal = first_signal(patient); signal && signal->fades()) found.push_back({1.5, signal->in_words()});
  if (verdicts.found("vanishing-by-depth") != nullptr && verdicts.absent("vanishing-gradients")) {
    found.push_back({0.8, "the last layers' gradients hide the early ones' in the global norm"});
  }
  const auto schedule = rate_schedule(patient);
  if (verdicts.found("vanishing-gradients") != nullptr && verdicts.absent("vanishing-by-depth") && schedule &&
      schedule->left() < 0.1) {
    found.push_back({-0.8, "the gradients are small in all layers alike, and the learning rate is down to " +
                               per_cent(schedule->left()) + " of its peak"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts&) {
  return {add_residual_connections(), replace_saturating_activations(), initialise_for_activation(),
          normalise_layers()};
}

}  // namespace

Cause vanishing_signal() {
  return {"vanishing-signal",
          "The gradient fades on its way through the layers",
          kDoc,
          -2.3,
          {{"cannot-overfit-one-batch", 0.8, 0, "no signal arrives to learn from"},
           {"vanishing-activations", 2.8, 0, "the signal fades on its way through the layers"},
           {"vanishing-gradients", 4.3, -0.8, "the gradient is practically zero"},
           {"vanishing-by-depth", 4.0, -1.4, "the early layers' gradients lie far below the late layers'"},
           {"silent-layer", 2.0, 0, "hardly any gradient arrives at one layer"},
           {"loss-stuck-from-start", 2.2, 0, "the early layers receive no signal, so nothing is learned"},
           {"gradients-mostly-zero", 0.8, 0, "most of the gradient does not arrive"},
           {"updates-too-small", 1.1, 0, "without a gradient the updates are tiny"},
           {"loss-too-slow", 0.7, 0, "only the last layers learn"},
           {"loss-stuck-after-drop", 0.4, 0, "the last layers learn what they can alone, then nothing follows"},
           {"underfitting", 0.8, 0, "layers that do not learn add no capacity"},
           {"loss-exactly-zero", -1.5, 0, "a loss of zero has no gradient to fade"},
           {"exploding-gradients", -2.0, 0, "the gradient grows, it does not fade"},
           {"clipping-always", -1.5, 0, "the gradient is large enough to be clipped"},
           {"reward-without-variance", -3.1, 0, "answers that earn alike give no gradient, whatever the network"}},
          "signal-propagation",
          "Look at the gradient norm per layer: early layers a thousand times below late ones confirm it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
