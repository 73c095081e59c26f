// batch-of-two: batches of two samples at the rate of large ones.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient batch_of_two() {
  Patient patient;
  patient.id = "batch-of-two";
  patient.title = "Batches of two";
  patient.story =
      "Memory was short, so the batch went from 64 to 2 and everything else stayed. Each gradient is the "
      "opinion of two samples; the loss jumps about and hardly falls.";
  patient.recipe.batch_size = 2;
  patient.recipe.optimizer = Optimizer::sgd;
  patient.recipe.lr = 0.02;
  patient.recipe.activation = Activation::gelu;
  patient.recipe.depth = 2;
  patient.recipe.steps = 800;
  patient.finding = "gradient-noise-dominates";
  patient.cause = "batch-too-small";
  patient.causes = {"lr-too-high"};
  patient.treatments = {{"Use batches of 64", {{"batch_size", "64"}}}};
  patient.recovery.accuracy = 0.8;
  patient.recovery.finding_gone = false;
  patient.lesson =
      "Noise falls with the root of the batch. Accumulate gradients when memory is short, or lower the rate "
      "with the batch.";
  return patient;
}

}  // namespace osler::gallery::ward
