// eval-mode-in-training: training runs in evaluation mode.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient eval_mode_in_training() {
  Patient patient;
  patient.id = "eval-mode-in-training";
  patient.title = "A model that stays in evaluation mode";
  patient.story =
      "A validation before the first epoch called eval(), and nobody called train() after it. BatchNorm normalises "
      "with statistics that are never updated, so it does not normalise at all, and dropout is off.";
  patient.recipe.train_mode = false;
  patient.recipe.normalization = Normalisation::batch;
  patient.finding = "eval-mode-in-training";
  patient.also = {"normalization-statistics-drift"};
  patient.cause = "eval-mode-left-on";
  patient.treatments = {{"Call train() before every epoch", {{"train_mode", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Modes stay as they are left. Set them where they matter, not once.";
  return patient;
}

}  // namespace osler::gallery::ward
