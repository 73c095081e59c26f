// validation-in-train-mode: validation runs with dropout on.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient validation_in_train_mode() {
  Patient patient;
  patient.id = "validation-in-train-mode";
  patient.title = "Dropout in validation";
  patient.story =
      "Nobody called eval() before validation. Half of the units are left out at random while the model is judged, so "
      "it looks worse than it is, and each time by another amount.";
  patient.recipe.dropout = 0.4;
  patient.recipe.width = 128;
  patient.recipe.eval_mode = false;
  patient.finding = "train-mode-in-validation";
  patient.cause = "eval-mode-left-on";
  patient.causes = {"validation-pipeline-bug"};
  patient.treatments = {{"Call eval() before validation", {{"eval_mode", "on"}}}};
  patient.recovery.accuracy = 0.7;
  patient.lesson = "train() before training, eval() before validation, every time. Assert it.";
  return patient;
}

}  // namespace osler::gallery::ward
