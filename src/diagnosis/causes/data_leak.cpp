// data-leak: validation holds what training has seen.
#include <cstdlib>

#include "diagnosis/configured.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Samples, near-duplicates, or statistics of the validation set find their way into training: a split made after
augmentation, frames of one film on both sides, a target hidden among the features. Validation then measures memory.

## How it shows
Validation as good as training or better, and too good to be true; no sign of overfitting however long training goes
on; a sharp fall in quality in production.

## What else looks like it
Dropout and augmentation, which burden training alone; a training loss that is averaged over the epoch and so lags
behind; an easy validation set.

## References
- Kaufman, Rosset, Perlich, Stitelman 2012, Leakage in Data Mining.
- Kapoor and Narayanan 2023, Leakage and the Reproducibility Crisis in Machine-Learning-Based Science.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const Observation* better = verdicts.found("validation-better-than-training");
  if (better == nullptr) return found;
  if (qualifier(better, "training") == "held back") {
    found.push_back({-2.0, "it is training that comes nowhere, not validation that does too well"});
  }
  const std::string ratio(qualifier(better, "ratio"));
  constexpr double kFarBelow = 0.6;  // dropout and augmentation seldom lift a training loss by more than half
  if (!ratio.empty() && std::strtod(ratio.c_str(), nullptr) < kFarBelow) {
    found.push_back({0.7, "validation lies at " + ratio + " of the training loss: dropout seldom explains as much"});
  }
  const auto drop = dropout(patient);
  if (drop && *drop == 0) {
    found.push_back({0.6, "no dropout is configured that would burden training alone"});
  } else if (drop && *drop >= 0.3) {
    found.push_back({-0.8, "dropout of " + number(*drop) + " explains why training looks worse"});
  }
  if (const auto smoothing = label_smoothing(patient); smoothing && *smoothing > 0) {
    found.push_back({-1.5, "label smoothing of " + number(*smoothing) + " lifts the training loss alone"});
  }
  const auto accuracy = patient.best_accuracy();
  if (accuracy && *accuracy > 0.995) found.push_back({0.5, "an accuracy of " + per_cent(*accuracy) + " is suspicious"});
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts&) {
  return {advice("Count the samples in both splits by a hash of their content, near-duplicates included."),
          switch_to("Split by group (person, document, film, day) and before augmentation.", "overlap", "0"),
          advice("Fit scalers, vocabularies and feature selection on the training part only."),
          advice("Judge by a test set collected later or elsewhere.")};
}

}  // namespace

Cause data_leak() {
  return {"data-leak",
          "Validation data has leaked into training",
          kDoc,
          -2.8,
          {{"split-overlap", 4.5, -2.5, "validation samples were found in the training set"},
           {"validation-better-than-training", 2.5, -0.7, "validation is better than it has a right to be"},
           {"metric-contradicts-loss", 0.2, 0, "a leak can touch the loss and not the metric"},
           {"initial-loss-wrong", 0.1, 0, "a target among the features shows in the first steps"},
           {"overfitting", -2.5, 0, "leaked validation data does not show overfitting"},
           {"underfitting", -1.0, 0, "a leak makes results better, not worse"},
           {"validation-frozen", -1.0, 0, "a leak moves with training"}},
          "checkup",
          "Look for overlap between the splits; train without the suspicious feature or source and compare.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
