// dead-units: rectified units that are zero for every sample and never come back.
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A ReLU whose input is negative for every sample outputs zero, has a slope of zero, and receives no gradient to change
that. One update that is too long can push a whole layer over the edge. What is dead stays dead.

## How it shows
Exact zeros in most of the gradient, layers without any gradient, a loss that stops early; with a whole layer dead the
output no longer depends on the input and a classifier sits at ln(C).

## What else looks like it
A fading gradient (small, not exactly zero), frozen parameters (other layers learn well), a detached graph, sparse
embeddings (zeros are normal there).

## References
- Maas, Hannun, Ng 2013, Rectifier Nonlinearities Improve Neural Network Acoustic Models.
- Lu, Shin, Su, Karniadakis 2020, Dying ReLU and Initialization: Theory and Numerical Examples.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (fine_tuning(patient)) found.push_back({-0.8, "it starts from weights that were trained before"});
  if (norms_all_zero(patient)) found.push_back({1.2, "every gradient norm is exactly zero"});
  if (const auto classes = stays_at_chance(patient, 0.004)) {
    found.push_back({0.6, "the loss is exactly ln(" + std::to_string(*classes) + "): the outputs ignore the inputs"});
  } else if (verdicts.found("dead-layer") == nullptr && verdicts.found("gradients-mostly-zero") == nullptr) {
    weigh_ordinary_norms(patient, verdicts, -0.8, found);
  }
  if (const auto signal = first_signal(patient); signal && (signal->fades() || signal->grows())) {
    found.push_back({-3.0, signal->in_words() + ", whatever units do later"});
  }
  const Reading* training = patient.training();
  if (training != nullptr && exactly_constant(*training)) {
    found.push_back({1.0, "the loss repeats to the last digit, as when the output ignores the input"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  return {
      switch_to("Use LeakyReLU (slope 0.01), GELU or SiLU: none of them has a dead side.", "activation", "leaky-relu"),
      divide_learning_rate(patient, 10), initialise_for_activation(),
      switch_to("Start biases at 0 or 0.01, and normalise before the activation.", "bias", "0")};
}

}  // namespace

Cause dead_units() {
  return {"dead-units",
          "Many units are dead",
          kDoc,
          -3.0,
          {{"cannot-overfit-one-batch", 1.0, 0, "dead units memorise nothing"},
           {"dead-neurons", 3.0, -2.0, "units that are zero for every sample"},
           {"gradients-mostly-zero", 4.3, -1.2, "most of the gradient is exactly zero"},
           {"dead-layer", 3.5, -1.1, "a layer of dead units receives no gradient at all"},
           {"silent-layer", 1.4, 0, "hardly a unit of the layer is on"},
           {"loss-stuck-from-start", 2.4, 0, "a dead layer blocks everything behind it"},
           {"vanishing-gradients", 1.3, 0, "dead units pass no gradient"},
           {"loss-stuck-after-drop", 1.4, 0, "units that die early leave too little to learn with"},
           {"vanishing-by-depth", 0.9, 0, "dead units block the way to the early layers"},
           {"predicts-one-class", 1.2, 0, "an output that ignores its input gives one answer"},
           {"validation-frozen", 0.4, 0, "an output that ignores its input gives the same result every time"},
           {"underfitting", 0.7, 0, "dead units add no capacity"},
           {"weight-norm-collapsing", 0.7, 0, "weights of dead units only decay"},
           {"reward-without-variance", -3.0, 0, "answers that earn alike give no gradient, whatever the network"},
           {"poor-initialization", -3.5, 0, "the weights did not fit before any unit died"},
           {"exploding-gradients", -2.0, 0, "dead units pass no gradient, and here it runs away"},
           {"exploding-activations", -1.5, 0, "the outputs are huge, not silent"},
           {"loss-nonfinite-at-start", -1.5, 0, "silent units do not overflow"},
           {"overfitting", -2.0, 0, "enough units are alive to memorise the training set"}},
          "checkup",
          "Count, per layer, the units that are zero for every sample of a few batches: more than half confirms it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
