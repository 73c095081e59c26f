// frozen-parameters: the optimizer does not move what should be trained.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/breakage.h"
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Parameters are marked as not trainable, were made after the optimizer was built, belong to no parameter group, or the
optimizer is never stepped. Gradients may be there; the weights stay as they are.

## How it shows
Training loss that jitters with the batches and has no trend, validation that repeats to the last digit; or, with only
part of the model frozen, early saturation at a poor level.

## What else looks like it
A learning rate of zero, a detached graph (no gradients either), a learning rate that is too low (validation still
changes in its last digits).

## References
- Yosinski et al. 2014, How Transferable Are Features in Deep Neural Networks?
- Howard and Ruder 2018, Universal Language Model Fine-tuning for Text Classification: gradual unfreezing.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (verdicts.found("dead-layer") != nullptr && monitored(patient) && verdicts.absent("parameters-not-optimized")) {
    found.push_back({-3.0, "the optimizer holds every parameter: what stands still gets no gradient"});
  }
  const Reading* validation = patient.validation();
  const Reading* training = patient.training();
  const bool stuck = verdicts.found("loss-stuck-from-start") != nullptr || !training_learned(patient);
  if (stuck && validation != nullptr && exactly_constant(*validation)) {
    found.push_back({weights_stand_still(patient) ? 3.0 : 2.4,
                     validation->name + " repeats to the last digit: the weights do not change at all"});
  } else if (training != nullptr && exactly_constant(*training) && verdicts.found("loss-exactly-zero") == nullptr) {
    found.push_back({1.8, training->name + " repeats to the last digit"});
  }
  if (const auto above = stays_above_chance(patient); above && stuck) found.push_back({0.8, *above});
  if (norms_all_zero(patient)) found.push_back({0.4, "every gradient norm is exactly zero"});
  if (configured_flag(patient, {"freeze", "freeze_backbone", "freeze_encoder", "frozen"}) == true) {
    found.push_back({1.4, "the configuration freezes part of the model"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts&) {
  return {
      advice("Count the trainable parameters and those the optimizer holds: the two numbers must agree."),
      switch_to("Build the optimizer after the model is complete and on its device; check that step is called.",
                "all_optimized", "on"),
      switch_to("Unfreeze the backbone, with a tenth of the head's learning rate to begin with.", "trainable", "on")};
}

}  // namespace

Cause frozen_parameters() {
  return {"frozen-parameters",
          "Parameters that should be trained are frozen",
          kDoc,
          -3.0,
          {{"cannot-overfit-one-batch", 1.0, 0, "weights that do not move memorise nothing"},
           {"weights-frozen", 3.8, -1.5, "parameters were measured never to change"},
           {"parameters-not-optimized", 3.6, -0.5, "parameters were found in no group of the optimizer"},
           {"dead-layer", 2.2, 0, "a frozen layer receives no gradient"},
           {"updates-too-small", 2.3, 0, "frozen weights have no update"},
           {"loss-stuck-from-start", 1.6, 0, "weights that never move learn nothing"},
           {"learning-rate-zero", 0.6, 0, "a group with a rate of zero is frozen"},
           {"validation-frozen", 1.1, 0, "the same weights give the same result every time"},
           {"underfitting", 0.6, 0, "with most of the model frozen little can be learned"},
           {"loss-too-slow", 0.4, 0, "only a small part of the model learns"},
           {"loss-stuck-after-drop", 0.4, 0, "the trainable part has learned what it can"},
           {"poor-initialization", -3.0, 0, "the first weights explain why nothing moves"},
           {"dead-neurons", -1.5, 0, "silent units explain why their weights stand still"},
           {"overfitting", -2.0, 0, "enough of the model is trained to memorise"},
           {"exploding-gradients", -1.0, 0, "frozen weights do not run away"},
           {"loss-diverging", -2.5, 0, "frozen weights do not diverge"}},
          "checkup",
          "Compare the weights before and after one step, parameter by parameter.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
