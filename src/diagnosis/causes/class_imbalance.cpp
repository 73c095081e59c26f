// class-imbalance: the largest class is so large that answering it always pays.
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
With one class far more frequent than the rest, answering it always gives a good accuracy and a low loss. The model
finds that answer first, and the rare classes add too little gradient to lead it away.

## How it shows
Accuracy stands still at the share of the largest class, to the last digit, while the loss falls as the confidence
is adjusted; per-class metrics such as F1 or recall stay bad.

## What else looks like it
A metric that is computed wrongly, a validation pipeline that repeats itself, label smoothing, labels without
information.

## References
- He and Garcia 2009, Learning from Imbalanced Data.
- Buda, Maki, Mazurowski 2018, A Systematic Study of the Class Imbalance Problem in Convolutional Neural Networks.
- Lin et al. 2017, Focal Loss for Dense Object Detection.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (const auto low = accuracy_too_low_for_loss(patient)) {
    found.push_back({-3.0, *low + ": answers for one class would cost more"});
  }
  const auto& qualities = patient.validation_quality();
  if (qualities.empty() || qualities.front().curve.empty()) return found;
  const Reading& quality = qualities.front();
  if (only_metric_frozen(patient, verdicts)) {
    found.push_back({1.8, patient.validation()->name + " moves while the answers stay the same"});
  }
  const bool same = exactly_constant(quality);
  const double value = quality.shown(quality.end);
  if (same && value > 0 && verdicts.found("validation-frozen") != nullptr) {
    found.push_back({0.8, quality.name + " is " + number(value) + " every time, as when one class answers for all"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts&) {
  return {advice("Count the samples per class, and the model's answers per class: one answer for all confirms it."),
          switch_to("Weight the loss by the inverse class frequency, or sample the classes evenly.",
                    "balanced_sampling", "on"),
          advice("Judge by balanced accuracy, F1 or the area under the precision-recall curve, not by accuracy."),
          advice("Set the output bias to the class frequencies, so that training starts from them.")};
}

}  // namespace

Cause class_imbalance() {
  return {"class-imbalance",
          "One class outweighs the others",
          kDoc,
          -2.8,
          {{"overfitting", 0.1, 0, "the few samples of rare classes are learned by heart"},
           {"overconfidence", 0.6, 0, "what is sure of the frequent class is wrong on the others"},
           {"class-imbalance", 4.1, -2.5, "one class was counted to make up most of the data"},
           {"confidence-without-learning", 3.8, 0, "the loss falls by confidence alone, the answers do not change"},
           {"predicts-one-class", 2.6, -0.8, "answering the largest class always pays"},
           {"part-of-loss-dead", 0.4, 0, "rare targets may take no part at all"},
           {"validation-frozen", 0.7, 0, "one answer for all samples gives the same result every time"},
           {"metric-contradicts-loss", 1.4, 0, "the loss is good for the frequent class, the metric asks for all"},
           {"loss-stuck-after-drop", 1.4, 0, "the class frequencies are learned, and then nothing"},
           {"underfitting", 0.1, 0, "the rare classes are not learned"},
           {"loss-stuck-from-start", 0.1, 0, "the first answer, the frequent class, is hard to leave"},
           {"initial-loss-wrong", 0.2, 0, "uneven classes shift the loss of a uniform guess"},
           {"accuracy-outruns-loss", 0.4, 0, "accuracy is easy where one class dominates"}},
          "checkup",
          "Look at the confusion matrix: one full column confirms it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
