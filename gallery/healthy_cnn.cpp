// healthy-cnn: a small convolutional network that learns digits.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_cnn() {
  Patient patient;
  patient.id = "healthy-cnn";
  patient.title = "A small convolutional network learns digits";
  patient.story = "Three convolutions with ReLU and He initialisation under Adam. Nothing is wrong.";
  patient.recipe.model = Model::cnn;
  patient.recipe.depth = 3;
  patient.recipe.width = 8;
  patient.recipe.lr = 0.01;
  patient.recipe.schedule = Schedule::cosine;
  patient.recipe.min_lr = 0.001;
  patient.recipe.batch_size = 32;
  patient.recipe.steps = 250;
  return patient;
}

}  // namespace osler::gallery::ward
