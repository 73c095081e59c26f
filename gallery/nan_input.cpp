// nan-input: one pixel of one batch is NaN.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient nan_input() {
  Patient patient;
  patient.id = "nan-input";
  patient.title = "One damaged picture";
  patient.story =
      "One file of the training set was cut off while it was copied, and decodes to a NaN. It passes through every "
      "layer, the loss is NaN, and one step later so is every weight. Nothing in the model is wrong.";
  patient.recipe.trap = Trap::bad_input;
  patient.recipe.skip_nonfinite = false;
  patient.finding = "batch-nonfinite";
  patient.also = {"loss-nonfinite-later", "gradient-nonfinite", "weights-nonfinite"};
  patient.cause = "corrupt-data";
  patient.treatments = {{"Refuse batches with values that are not finite", {{"check_batches", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Look at batches before they are used. One NaN in one input is enough to lose a run.";
  return patient;
}

}  // namespace osler::gallery::ward
