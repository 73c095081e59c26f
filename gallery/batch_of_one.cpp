// batch-of-one: every step follows a single sample, and the next one takes it back.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient batch_of_one() {
  Patient patient;
  patient.id = "batch-of-one";
  patient.title = "Steps that each follow a single sample";
  patient.story =
      "Memory was short, so the batch became 1 and everything else stayed. A gradient of one sample points at that "
      "sample: the steps are mostly noise, each undoes the last, and four hundred of them have seen four hundred "
      "samples.";
  patient.recipe.batch_size = 1;
  patient.recipe.optimizer = Optimizer::momentum;
  patient.recipe.lr = 0.01;
  patient.finding = "gradient-noise-dominates";
  patient.also = {"underfitting"};
  patient.cause = "batch-too-small";
  patient.treatments = {{"Use a batch of 64, or accumulate gradients over 64 samples", {{"batch_size", "64"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "The noise of a gradient shrinks with the root of the batch. Where memory allows only single samples, accumulate "
      "their gradients before a step.";
  return patient;
}

}  // namespace osler::gallery::ward
