// data-not-normalized: the inputs come at a scale the network was not made for.
#include "diagnosis/configured.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Pixels from 0 to 255, prices in the millions, features on scales that differ by orders of magnitude: the first layer's
outputs and gradients inherit that scale. Initialisation and the usual learning rates assume inputs around zero with a
spread of one.

## How it shows
A huge first loss, large gradients or NaN within the first steps, or crawling progress along the badly scaled
directions. Regression on unscaled targets starts at a loss of thousands and more.

## What else looks like it
Bad initialisation, a learning rate that is too high, corrupt samples.

## References
- LeCun, Bottou, Orr, Mueller 1998, Efficient BackProp: why inputs should be centred and scaled.
- Ioffe and Szegedy 2015, Batch Normalization.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  constexpr double kHugeLoss = 100;
  const Reading* training = patient.training();
  if (training != nullptr && !training->negated && training->start > kHugeLoss) {
    found.push_back({0.8, "the first loss is " + number(training->start) + ", a matter of scale"});
  }
  if (verdicts.found("loss-stuck-from-start") != nullptr) weigh_ordinary_norms(patient, verdicts, -0.3, found);
  if (qualifier(verdicts.found("batch-extreme"), "extent") == "some batches") {
    found.push_back({-3.0, "most batches are of an ordinary size: it is not the scale of the data"});
  }
  const auto normalise = configured_flag(patient, {"normalize", "normalise", "standardize", "normalize_inputs"});
  if (normalise == true) found.push_back({-1.2, "the configuration normalises the inputs"});
  if (normalise == false) found.push_back({1.2, "the configuration does not normalise the inputs"});
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  if (patient.reinforcement()) {
    return {
        switch_to(
            "Normalise observations by running statistics, keep them with the policy, and freeze them in evaluation.",
            "normalize_observations", "on"),
        divide_learning_rate(patient, 10)};
  }
  return {standardise_inputs(), normalise_layers(), divide_learning_rate(patient, 10)};
}

}  // namespace

Cause data_not_normalized() {
  return {"data-not-normalized",
          "The inputs are not normalised",
          kDoc,
          -2.8,
          {{"loss-beyond-chance", 1.6, 0, "inputs of hundreds make outputs of hundreds"},
           {"batch-extreme", 3.2, 0, "inputs far beyond the usual size"},
           {"batch-unnormalized", 3.6, -3.0, "the inputs were measured: they are not normalised"},
           {"initial-loss-wrong", 2.2, 0, "unscaled inputs give outputs of any size"},
           {"loss-nonfinite-at-start", 1.1, 0, "large inputs overflow in the first steps"},
           {"loss-stuck-from-start", 0.7, 0, "large inputs saturate or kill the first layer"},
           {"exploding-gradients", 1.0, 0, "the gradient inherits the scale of the inputs"},
           {"loss-too-slow", 0.3, 0, "badly scaled directions allow only short steps"},
           {"underfitting", 0.3, 0, "small features drown beside large ones"},
           {"loss-diverging", 0.3, 0, "the usual rate is too high for inputs of this scale"},
           {"loss-oscillating", 0.1, 0, "badly scaled directions make the optimizer bounce"},
           {"clipping-always", 0.3, 0, "the gradient inherits the scale of the inputs"},
           {"loss-stuck-after-drop", 0.4, 0, "only the large features were learned"},
           {"value-function-not-learning", 2.8, 0, "a critic cannot read observations of any size"},
           {"reward-stuck-from-start", 0.6, 0, "observations that saturate the first layer all look alike"},
           {"loss-nonfinite-later", -0.1, 0, "the scale of the inputs would show at once"}},
          "checkup",
          "Print mean, standard deviation, smallest and largest value of one batch as the model gets it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
