// saturation: sigmoid or tanh units sit at the flat ends of their range.
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A sigmoid or tanh is flat beyond a few units of input. When large weights, unscaled inputs or one long step push the
units out there, their slope is next to zero and so is every gradient that has to pass them. Softmax attention with
large logits saturates in the same way.

## How it shows
Gradients that are tiny though not zero, a loss that stands still or creeps, early layers far behind late ones.

## What else looks like it
Small weights in a deep network (the units sit in the middle, the gradient shrinks all the same), dead ReLUs (exact
zeros), a learning rate that is too low.

## References
- LeCun, Bottou, Orr, Mueller 1998, Efficient BackProp: why inputs and weights must keep units off the ends.
- Glorot and Bengio 2010, Understanding the Difficulty of Training Deep Feedforward Neural Networks.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (norms_all_zero(patient))
    found.push_back({-1.5, "every gradient norm is exactly zero: saturated units leave a rest"});
  const Observation* ends = verdicts.found("saturated-activations");
  if (ends != nullptr && ends->severity == Severity::critical) {
    found.push_back({1.2, "more than half of a layer is at the ends of its range"});
  } else if (ends != nullptr) {
    found.push_back({-1.0, "most of every layer is still within its range"});
  }
  if (ends == nullptr) weigh_ordinary_norms(patient, verdicts, -1.0, found);
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  return {replace_saturating_activations(), standardise_inputs(), initialise_for_activation(), normalise_layers(),
          divide_learning_rate(patient, 3)};
}

}  // namespace

Cause saturation() {
  return {"saturation",
          "Activations are saturated",
          kDoc,
          -3.1,
          {{"loss-beyond-chance", 0.8, 0, "weights that saturate the units make huge outputs"},
           {"underfitting", 0.4, 0, "units at the flat ends add no capacity"},
           {"cannot-overfit-one-batch", 0.8, 0, "saturated units hardly learn"},
           {"saturated-activations", 3.0, -2.5, "activations at the ends of their range"},
           {"vanishing-gradients", 1.5, 0, "saturated units have next to no slope"},
           {"vanishing-by-depth", 1.5, 0, "each saturated layer shrinks the gradient again"},
           {"silent-layer", 1.8, 0, "a saturated layer passes hardly any gradient"},
           {"loss-stuck-from-start", 1.1, 0, "units that start at the flat ends cannot learn"},
           {"loss-stuck-after-drop", 0.7, 0, "units driven to the flat ends stop learning"},
           {"loss-too-slow", 0.5, 0, "next to no slope leaves next to no progress"},
           {"weight-norm-exploding", 0.8, 0, "growing weights push the units outward"},
           {"updates-too-small", 0.6, 0, "small gradients make small updates"},
           {"gradients-mostly-zero", 0.3, 0, "a flat end can round to zero"},
           {"exploding-gradients", -1.2, 0, "saturated units damp the gradient"},
           {"overfitting", -1.5, 0, "the model learned its training set"}},
          "checkup",
          "Measure the share of sigmoid and tanh outputs beyond 99 % of their range: more than half confirms it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
