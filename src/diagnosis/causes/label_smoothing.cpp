// label-smoothing: softened targets keep the loss up although the answers are right.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Label smoothing asks for a probability such as 0.9 instead of 1. The loss then has a floor well above zero, and after
the answers are right training only adjusts how sure they are. Loss and accuracy part ways, by design.

## How it shows
Accuracy rises while the loss stalls at a level set by the smoothing; or the loss falls by calibration alone while
accuracy stands still; validation, computed without smoothing, lies below training.

## What else looks like it
Class imbalance, a metric that is computed wrongly, a model that is too small.

## References
- Szegedy et al. 2016, Rethinking the Inception Architecture for Computer Vision.
- Mueller, Kornblith, Hinton 2019, When Does Label Smoothing Help?
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (qualifier(verdicts.found("accuracy-outruns-loss"), "floor") == "sigmoid-twice") {
    found.push_back({-2.5, "there are two classes, whose labels are seldom smoothed"});
  }
  if (qualifier(verdicts.found("accuracy-outruns-loss"), "floor") == "softmax-twice") {
    found.push_back({-1.8, "loss and right answers stand to each other as behind two softmaxes"});
  }
  if (qualifier(verdicts.found("validation-better-than-training"), "training") == "held back") {
    found.push_back({1.5, "training is held back and validation is not: smoothed targets cannot be reached"});
  }
  if (const auto low = accuracy_too_low_for_loss(patient)) found.push_back({-2.0, *low});
  if (const auto high = loss_too_high_for_accuracy(patient)) found.push_back({1.3, *high});
  if (qualifier(verdicts.found("validation-better-than-training"), "answers") == "alike") {
    found.push_back({2.2, "training answers are as right as those of validation and cost far more"});
  }
  const auto set = osler::label_smoothing(patient);
  if (set && *set > 0) found.push_back({1.6, "label smoothing is set to " + number(*set)});
  const Reading* training = patient.training();
  if (!set && training != nullptr && !training->negated && training->end >= 0 && training->end < 0.2) {
    found.push_back({-1.5, "the training loss is " + number(training->end) + ", below what smoothed targets allow"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  const auto set = osler::label_smoothing(patient);
  if (set && *set == 0) return "the configuration sets label smoothing to 0";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  list.push_back(advice("If accuracy is what counts, nothing needs to change: judge by it, not by the loss."));
  const auto set = osler::label_smoothing(patient);
  if (set && *set > 0.1) {
    list.push_back(change("Smooth less: " + number(*set) + " -> 0.05.", "label_smoothing", number(*set), "0.05"));
  } else {
    list.push_back(advice("Log the plain cross-entropy beside the smoothed one, on training data too."));
  }
  return list;
}

}  // namespace

Cause label_smoothing() {
  return {"label-smoothing",
          "Label smoothing parts the loss from the accuracy",
          kDoc,
          -2.5,
          {{"confidence-without-learning", 1.8, 0, "what is learned is how sure to be, not what to answer"},
           {"accuracy-outruns-loss", 4.1, -0.9, "smoothed targets keep the loss up although the answers are right"},
           {"validation-better-than-training", 1.1, 0, "validation is usually computed without smoothing"},
           {"metric-contradicts-loss", 0.5, 0, "loss and metric measure different things"},
           {"overconfidence", -0.7, 0, "smoothing prevents overconfidence"},
           {"overfitting", -0.6, 0, "smoothing works against memorising"}},
          "",
          "Look at the loss function's arguments; compute the plain cross-entropy on one batch beside it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
