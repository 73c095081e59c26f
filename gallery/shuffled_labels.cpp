// shuffled-labels: inputs and labels were shuffled by different permutations.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient shuffled_labels() {
  Patient patient;
  patient.id = "shuffled-labels";
  patient.title = "Inputs and labels that do not belong together";
  patient.story =
      "Inputs and labels lie in two files, and each was shuffled on loading. Shapes fit, counts fit, nothing "
      "complains. The loss sits at ln 10 = 2.30, the loss of guessing, because there is nothing to learn.";
  patient.recipe.labels_match = false;
  patient.recipe.samples = 8000;
  patient.recipe.init_gain = 0.3;
  patient.finding = "loss-stuck-from-start";
  patient.also = {"overfitting"};
  patient.cause = "wrong-labels";
  patient.treatments = {{"Shuffle inputs and labels with one permutation", {{"labels_match", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "A loss that stays at ln C with healthy gradients says that inputs tell nothing about labels. Look at ten "
      "samples with their labels.";
  return patient;
}

}  // namespace osler::gallery::ward
