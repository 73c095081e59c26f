// dropout-too-strong: dropout that leaves an eleventh of the units.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient dropout_too_strong() {
  Patient patient;
  patient.id = "dropout-too-strong";
  patient.title = "So much dropout that hardly anything is left to learn with";
  patient.story =
      "Dropout helped against overfitting, so there was more of it, and more. With ten units in eleven "
      "left out, the next layer sees mostly noise.";
  patient.recipe.dropout = 0.91;
  patient.recipe.depth = 1;
  patient.finding = "validation-better-than-training";
  patient.cause = "too-much-regularization";
  patient.treatments = {{"Drop a tenth of the units", {{"dropout", "0.1"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Regularisation is a brake. When the training loss itself stays high, take the foot off it first.";
  return patient;
}

}  // namespace osler::gallery::ward
