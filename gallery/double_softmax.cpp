// double-softmax: a softmax before a cross-entropy that has its own.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient double_softmax() {
  Patient patient;
  patient.id = "double-softmax";
  patient.title = "A softmax too many";
  patient.story =
      "The network ends in a softmax, as in every textbook drawing, and the loss applies another one. Probabilities "
      "lie between 0 and 1, so the second softmax can hardly tell them apart: even a perfect answer among ten classes "
      "costs 1.46. The loss stops there, whatever the accuracy.";
  patient.recipe.loss = Loss::double_softmax;
  patient.recipe.steps = 800;
  patient.finding = "outputs-squashed-twice";
  patient.also = {"accuracy-outruns-loss"};
  patient.cause = "wrong-loss-function";
  patient.treatments = {{"Give the loss logits", {{"loss", "standard"}}}};
  patient.recovery.better_by = 0.8;
  patient.lesson =
      "Know the floor of your loss. A cross-entropy of ten classes that stops at 1.46 has seen probabilities in place "
      "of logits.";
  return patient;
}

}  // namespace osler::gallery::ward
