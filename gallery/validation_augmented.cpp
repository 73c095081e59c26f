// validation-augmented: validation inputs are perturbed at random.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient validation_augmented() {
  Patient patient;
  patient.id = "validation-augmented";
  patient.title = "The augmentation also runs on validation data";
  patient.story =
      "One data set class serves both splits, and its random augmentation was never switched off for validation. The "
      "same sample looks different each time, and the validation curve measures the augmentation as much as the model.";
  patient.recipe.augment_validation = true;
  patient.finding = "validation-augmented";
  patient.cause = "validation-pipeline-bug";
  patient.treatments = {{"Augment training data only", {{"augment_validation", "off"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Validation must give the same number for the same weights. Load it twice and compare.";
  return patient;
}

}  // namespace osler::gallery::ward
