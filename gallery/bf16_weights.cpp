// bf16-weights: weights are stored in bfloat16, which rounds their updates away.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient bf16_weights() {
  Patient patient;
  patient.id = "bf16-weights";
  patient.title = "Sixteen bits, and updates that round to nothing";
  patient.story =
      "Everything was moved to bfloat16, the weights too: half the memory, and the loss falls as before. But a "
      "bfloat16 weight has eight significant bits, and an update of less than about 1/256 of it rounds to nothing. "
      "Most of the steps are computed and thrown away.";
  patient.recipe.precision = Precision::bf16;
  patient.recipe.optimizer = Optimizer::sgd;
  patient.recipe.lr = 0.01;
  patient.finding = "updates-lost-to-precision";
  patient.cause = "low-precision-update";
  patient.treatments = {{"Keep the weights in float32", {{"precision", "fp32"}}}};
  patient.recovery.better_by = 0.95;
  patient.lesson = "Compute in 16 bits if you like, but keep the weights that are updated in 32.";
  return patient;
}

}  // namespace osler::gallery::ward
