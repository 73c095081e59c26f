// wrong-sign: the loss is maximised.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient wrong_sign() {
  Patient patient;
  patient.id = "wrong-sign";
  patient.title = "A minus too many";
  patient.story =
      "The loss was meant to be a log-likelihood to maximise, and somebody put a minus where there was one already. "
      "The loss falls beautifully, below zero and on without end. The accuracy stays where guessing left it, or below.";
  patient.recipe.loss = Loss::ascent;
  patient.finding = "confidence-without-learning";
  patient.also = {"metric-contradicts-loss", "logit-growth", "exploding-gradients", "exploding-activations"};
  patient.cause = "wrong-loss-function";
  patient.treatments = {{"Take the minus away", {{"loss", "standard"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "A falling loss is no success by itself. A cross-entropy can not be negative; look at a metric beside it.";
  return patient;
}

}  // namespace osler::gallery::ward
