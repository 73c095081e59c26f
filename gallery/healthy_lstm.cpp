// healthy-lstm: an LSTM that learns to add.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_lstm() {
  Patient patient;
  patient.id = "healthy-lstm";
  patient.title = "An LSTM learns to add two marked numbers";
  patient.story =
      "The adding problem over short sequences, one LSTM layer, Adam, the gradient clipped. Nothing is "
      "wrong.";
  patient.recipe.task = Task::adding;
  patient.recipe.model = Model::lstm;
  patient.recipe.depth = 1;
  patient.recipe.width = 16;
  patient.recipe.sequence_length = 8;
  patient.recipe.batch_size = 32;
  patient.recipe.lr = 0.01;
  patient.recipe.clip_norm = 5;
  patient.recipe.steps = 250;
  return patient;
}

}  // namespace osler::gallery::ward
