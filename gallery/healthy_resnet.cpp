// healthy-resnet: a small residual network with batch normalisation.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_resnet() {
  Patient patient;
  patient.id = "healthy-resnet";
  patient.title = "A residual network with BatchNorm";
  patient.story =
      "Two residual blocks with batch normalisation. Its activations and gradients are of a size at every depth.";
  patient.recipe.model = Model::resnet;
  patient.recipe.depth = 1;
  patient.recipe.width = 8;
  patient.recipe.batch_size = 32;
  patient.recipe.normalization = Normalisation::batch;
  patient.recipe.residual = true;
  patient.recipe.lr = 1e-2;
  patient.recipe.steps = 200;
  return patient;
}

}  // namespace osler::gallery::ward
