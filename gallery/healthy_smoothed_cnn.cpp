// healthy-smoothed-cnn: a convolutional network with a little label smoothing.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_smoothed_cnn() {
  Patient patient;
  patient.id = "healthy-smoothed-cnn";
  patient.title = "A CNN with label smoothing";
  patient.story =
      "Smoothing of 0.1 keeps the training loss above 0.5, and validation, computed without it, lies below. Both are "
      "as they should be.";
  patient.recipe.model = Model::cnn;
  patient.recipe.depth = 2;
  patient.recipe.width = 8;
  patient.recipe.batch_size = 32;
  patient.recipe.label_smoothing = 0.1;
  patient.recipe.lr = 1e-2;
  patient.recipe.steps = 250;
  return patient;
}

}  // namespace osler::gallery::ward
