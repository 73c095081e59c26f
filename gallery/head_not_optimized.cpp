// head-not-optimized: an optimizer that was built before the head was replaced.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient head_not_optimized() {
  Patient patient;
  patient.id = "head-not-optimized";
  patient.title = "The optimizer does not know the last layer";
  patient.story =
      "The optimizer was built, then the head was replaced for the new task. The new layer gets gradients "
      "but is in no group, so it stays random.";
  patient.recipe.all_optimized = false;
  patient.recipe.steps = 150;
  patient.finding = "parameters-not-optimized";
  patient.cause = "frozen-parameters";
  patient.treatments = {{"Build the optimizer after the model is complete", {{"all_optimized", "on"}}}};
  patient.recovery.accuracy = 0.85;
  patient.lesson =
      "Build the optimizer last. Compare the number of trainable parameters with the number that the "
      "optimizer holds.";
  return patient;
}

}  // namespace osler::gallery::ward
