// split-overlap: half of the validation samples are in the training set.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient split_overlap() {
  Patient patient;
  patient.id = "split-overlap";
  patient.title = "Validation on what was learned by heart";
  patient.story =
      "The samples were split after they had been duplicated for balance. Half of the validation set is in the "
      "training set as well. Validation looks excellent and goes on looking excellent.";
  patient.recipe.overlap = 0.5;
  patient.finding = "split-overlap";
  patient.also = {"validation-better-than-training"};
  patient.cause = "data-leak";
  patient.treatments = {{"Split before anything else, and by content", {{"overlap", "0"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Split first, then duplicate and augment. Count what both sides share by a hash of the content.";
  return patient;
}

}  // namespace osler::gallery::ward
