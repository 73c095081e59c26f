// noisy-labels: two fifths of the labels are wrong.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient noisy_labels() {
  Patient patient;
  patient.id = "noisy-labels";
  patient.title = "Labels from hasty annotators";
  patient.story =
      "The labels were bought cheaply: three in five are drawn from a hat. The network first learns what the right "
      "ones "
      "have in common, and validation improves. Then it learns the wrong ones by heart, one by one, and validation "
      "gets worse.";
  patient.recipe.label_noise = 0.6;
  patient.recipe.width = 128;
  patient.recipe.steps = 600;
  patient.finding = "overfitting";
  patient.also = {"overconfidence"};
  patient.cause = "label-noise";
  patient.treatments = {{"Use a forgiving loss and stop early", {{"label_smoothing", "0.2"}, {"stop_step", "150"}}},
                        {"Have the labels checked, and stop early", {{"label_noise", "0.1"}, {"stop_step", "150"}}}};
  patient.recovery.better_by = 0.95;
  patient.recovery.finding_gone = false;
  patient.lesson =
      "Networks learn the pattern first and the errors later. Stop before that, forgive with label smoothing, and "
      "relabel what costs most.";
  return patient;
}

}  // namespace osler::gallery::ward
