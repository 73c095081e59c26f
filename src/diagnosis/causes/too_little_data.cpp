// too-little-data: the training set can be memorised.
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The training set holds less information than the model can store, so after the common patterns it learns the samples
themselves, noise included.

## How it shows
Training loss keeps falling, often towards zero; validation turns up after a few epochs; the gap widens.

## What else looks like it
A model that is simply too large for the task, labels with errors (the model memorises them last), a validation set
drawn from elsewhere.

## References
- Zhang et al. 2017, Understanding deep learning requires rethinking generalization.
)";

std::vector<Clue> clues(const Patient& patient, const Findings&) {
  const Reading* training = patient.training();
  std::vector<Clue> found;
  if (training != nullptr && !training->negated && training->start > 0 && training->end >= 0 &&
      training->end < 0.05 * training->start) {
    found.push_back({1.0, "the training loss fell to " + number(training->end) + ": the training set is memorised"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Findings& findings) {
  std::vector<Remedy> list;
  if (const Observation* seen = findings.found("overfitting")) {
    const auto best = seen->qualifiers.find("best_step");
    Remedy stop = advice("Stop early and keep the checkpoint at the valley.");
    if (best != seen->qualifiers.end()) {
      stop.text = "Keep the checkpoint of step " + best->second + " and stop there next time (early stopping).";
      stop.change = Remedy::Change{"stop_step", std::to_string(seen->last_step), best->second};
    }
    list.push_back(stop);
  }
  list.push_back(
      advice("Regularise: weight decay 0.01 to 0.1, dropout 0.1 to 0.5, label smoothing 0.1, augmentation."));
  list.push_back(advice("Add data; to see whether it would help, train on a half and compare the valleys."));
  return list;
}

}  // namespace

Cause too_little_data() {
  return {"too-little-data",
          "There is too little training data for this model",
          kDoc,
          -1.2,
          {{"overfitting", 2.8, -1.5, "validation turns up while training falls on"},
           {"underfitting", -2.0, 0, "the training loss itself is high"}},
          "",
          "Train on half of the data: if the valley comes earlier and higher, more data will help.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue
