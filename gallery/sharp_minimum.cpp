// sharp-minimum: the whole data set in one batch, no decay, and far more steps than needed.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient sharp_minimum() {
  Patient patient;
  patient.id = "sharp-minimum";
  patient.title = "A valley so narrow that a nudge spoils everything";
  patient.story =
      "The accelerator had room for the whole data set, so every step took all of it: no noise at all, no weight "
      "decay, "
      "and fifteen hundred steps because they were cheap. The training loss is as good as zero. But move the weights "
      "by "
      "five hundredths of their size and it rises by half; new data are such a move.";
  patient.recipe.samples = 1000;
  patient.recipe.batch_size = 1000;
  patient.recipe.optimizer = Optimizer::sgd;
  patient.recipe.lr = 0.1;
  patient.recipe.steps = 1500;
  patient.finding = "sharp-minimum";
  patient.probe = "sharpness";
  patient.cause = "sharp-minimum";
  patient.causes = {"batch-too-large"};
  patient.treatments = {{"Decay the weights a little", {{"weight_decay", "0.01"}}}};
  patient.recovery.better_by = 0.9;
  patient.lesson =
      "No curve shows how narrow a valley is: push the weights and look. Noise from smaller batches, weight decay, "
      "averaged weights and SAM lead to flat places.";
  return patient;
}

}  // namespace osler::gallery::ward
