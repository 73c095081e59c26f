// naive-log-loss: the logarithm of a softmax, in two steps, with hot logits.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient naive_log_loss() {
  Patient patient;
  patient.id = "naive-log-loss";
  patient.title = "A cross-entropy typed by hand";
  patient.story =
      "The loss is minus the logarithm of the softmax, in two steps, and the logits are scaled by a temperature that "
      "makes them hot. Softmax gives exactly 0 for the right class of some samples, its logarithm is minus infinity, "
      "and the very first loss is infinite. Every step is refused, so nothing is ever learned.";
  patient.recipe.loss = Loss::naive_log;
  patient.recipe.logit_scale = 60;
  patient.finding = "loss-nonfinite-at-start";
  patient.also = {"gradient-nonfinite"};
  patient.cause = "log-of-zero";
  patient.treatments = {{"Compute the cross-entropy from logits", {{"loss", "standard"}}}};
  patient.recovery.accuracy = 0.7;
  patient.lesson = "Use the loss that takes logits: it never forms the probability that underflows.";
  return patient;
}

}  // namespace osler::gallery::ward
