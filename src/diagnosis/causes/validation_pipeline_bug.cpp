// validation-pipeline-bug: the validation number does not measure the model.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/carry_over.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Validation reads one batch over and over, an exhausted iterator, cached predictions, data that was preprocessed
differently or augmented. The number it prints has little to do with the model.

## How it shows
A validation value that repeats to the last digit, that stands still while training falls, or that jumps about without
relation to training.

## What else looks like it
A stale checkpoint (the data is right, the weights are old), a model that gives one answer for all, true convergence
(the values still jitter), overfitting.

## References
- Breck et al. 2017, The ML Test Score: A Rubric for ML Production Readiness.
- Humbatova et al. 2020, Taxonomy of Real Faults in Deep Learning Systems.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (qualifier(verdicts.found("overfitting"), "carried") == "nothing") {
    found.push_back(
        {1.8,
         "validation never followed training, from its first evaluation on: it may see other data or other labels"});
  }
  const auto tail = validation_tail(patient);
  if (tail && tail->all_different && verdicts.found("validation-frozen") == nullptr) {
    found.push_back({-0.4, "the last " + std::to_string(tail->values.size()) + " values of " + tail->series +
                               " differ, so something is computed anew"});
  }
  if (const auto same = repeats_itself(patient, verdicts); same && verdicts.found("validation-frozen") == nullptr) {
    found.push_back({2.6, *same});
  }
  // What followed once and repeats itself now says how it was, not how it is.
  const bool still_follows = verdicts.found("validation-frozen") == nullptr;
  if (still_follows && validation_followed(patient) && !only_metric_frozen(patient, verdicts)) {
    found.push_back({-0.4, "validation improved with training earlier, so it sees the weights"});
  }
  if (verdicts.found("loss-plateau") != nullptr && training_goes_on(patient, verdicts) && patient.validation() &&
      !still_falls(*patient.validation())) {
    found.push_back({0.4, fall_in_words(*patient.training()) + " and validation does not answer"});
  }
  if (const auto smoothing = label_smoothing(patient);
      smoothing && *smoothing > 0 && verdicts.found("validation-better-than-training") != nullptr) {
    found.push_back({-1.2, "label smoothing of " + number(*smoothing) + " lifts the training loss alone"});
  }
  if (only_metric_frozen(patient, verdicts)) {
    found.push_back({-1.2, patient.validation()->name + " follows the weights, only the metric repeats itself"});
  }
  weigh_carry_over(patient,
                   {.never = 2.5,
                    .beyond = 1.3,
                    .by_heart = -1.2,
                    .guesses = 0.8,
                    .answers = 1.2,
                    .followed = still_follows ? -1.2 : 0.0},
                   found);
  weigh_still_weights(patient, verdicts, found);
  weigh_flat_training(patient, verdicts, found);
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts& verdicts) {
  for (const std::string_view seen : {"validation-augmented", "train-mode-in-validation"}) {
    if (verdicts.found(seen) != nullptr) return std::nullopt;
  }
  // A loss that falls from far above the untrained network's to a little less does not measure the model.
  if (const auto carried = carry_over(patient); carried && carried->never()) return std::nullopt;
  const auto tail = validation_tail(patient);
  const Reading* validation = patient.validation();
  if (!tail || !tail->all_different || validation == nullptr || verdicts.found("validation-frozen") != nullptr ||
      verdicts.found("validation-better-than-training") != nullptr ||
      verdicts.found("metric-contradicts-loss") != nullptr || !validation_followed(patient)) {
    return std::nullopt;
  }
  if (still_falls(*validation)) return fall_in_words(*validation) + " with training: it measures the model";
  if (verdicts.found("overfitting") == nullptr) return std::nullopt;
  return validation->name + " fell from " + number(validation->start) + " to " + number(validation->best) +
         " with training before it turned: it measures the model";
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  if (patient.reinforcement()) {
    return {
        advice("Use the training's statistics of observations in evaluation, frozen, and no normalised reward there."),
        advice(
            "Evaluate once with the policy as it acts in training: if the gap closes, the deterministic one is new."),
        advice("Run the rollout's own environment, wrappers and all, as the evaluation environment."),
        advice("Compare the weights of the policy that is evaluated with those of the one that trains.")};
  }
  return {advice("Evaluate by hand: load the newest weights, compute the loss on ten validation batches, compare."),
          advice("Print a hash of each validation batch and of the weights: both must be what you expect."),
          switch_to("Build the validation iterator anew for every evaluation; no augmentation, same preprocessing.",
                    "augment_validation", "off"),
          advice("Feed zeros to the model: if the validation value does not change, it is not computed from it.")};
}

}  // namespace

Cause validation_pipeline_bug() {
  return {
      "validation-pipeline-bug",
      "The validation pipeline does not measure the model",
      kDoc,
      -1.8,
      {{"overconfidence", 1.4, 0, "inputs or labels that differ from training make sure answers wrong"},
       {"validation-augmented", 3.6, 0, "the validation loader was seen to return other data each time"},
       {"train-mode-in-validation", 3.8, 0, "validation was seen to run in training mode"},
       {"normalization-statistics-drift", 0.9, 0, "validation data prepared otherwise draws the statistics away"},
       {"validation-frozen", 2.9, 0, "a computed value would jitter with the weights"},
       {"validation-better-than-training", 1.3, 0, "training and validation data are treated differently"},
       {"validation-below-chance", 2.2, 0, "classes in another order, or data prepared otherwise, turn answers round"},
       {"metric-contradicts-loss", 1.0, 0, "part of the evaluation reads something else"},
       {"loss-plateau", 0.7, 0, "a value that is not computed anew stands still"},
       {"overfitting", 1.5, 0, "validation data treated differently drifts away from training"},
       {"confidence-without-learning", 0.2, 0, "the metric does not follow the model"},
       {"eval-contradicts-rollout", 4.3, 0, "what is evaluated is not what is trained, or not in the same world"},
       {"loss-stuck-from-start", -2.6, 0, "training does not move either, so validation has nothing to show"},
       {"learning-rate-zero", -1.5, 0, "the weights do not move, so validation has nothing to show"}},
      "checkup",
      "Evaluate the current weights by hand on ten batches: another number confirms it.",
      clues,
      impossible,
      remedies};
}

}  // namespace osler::catalogue::cause
