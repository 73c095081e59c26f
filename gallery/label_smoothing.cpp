// label-smoothing: heavy label smoothing keeps the training loss up.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient label_smoothing() {
  Patient patient;
  patient.id = "label-smoothing";
  patient.title = "A loss that will not go down, and need not";
  patient.story =
      "Label smoothing was meant to be 0.08 and a point slipped: it is 0.8. The training loss stops above 2.1 and "
      "validation, which is computed without smoothing, lies far below it. It looks like a leak or a broken pipeline. "
      "It is the loss that was asked for.";
  patient.recipe.label_smoothing = 0.8;
  patient.finding = "validation-better-than-training";
  patient.also = {"accuracy-outruns-loss"};
  patient.cause = "label-smoothing";
  patient.treatments = {{"Smooth less", {{"label_smoothing", "0.05"}}}};
  patient.recovery.better_by = 0.9;
  patient.recovery.finding_gone = false;
  patient.lesson =
      "Smoothed targets put a floor under the loss. Log the plain cross-entropy beside it, and judge by accuracy.";
  return patient;
}

}  // namespace osler::gallery::ward
