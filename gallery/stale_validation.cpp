// stale-validation: validation keeps judging weights of long ago.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient stale_validation() {
  Patient patient;
  patient.id = "stale-validation";
  patient.title = "An evaluation job that loads yesterday's checkpoint";
  patient.story =
      "A second program evaluates the newest checkpoint, or so it was meant. The disk filled up early on and no "
      "checkpoint has been written since. Training goes on; validation reports the same number to the last digit.";
  patient.recipe.fresh_validation = false;
  patient.finding = "validation-frozen";
  patient.also = {"loss-plateau"};
  patient.cause = "stale-checkpoint";
  patient.treatments = {{"Evaluate the newest weights", {{"fresh_validation", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "Numbers that are computed anew never repeat to the last digit. Log the step of the evaluated weights beside the "
      "result.";
  return patient;
}

}  // namespace osler::gallery::ward
