// healthy-gpt: a small transformer that learns to spell.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_gpt() {
  Patient patient;
  patient.id = "healthy-gpt";
  patient.title = "A small transformer learns the letters of a text";
  patient.story =
      "Two blocks with normalisation before each, a warm-up and a cosine schedule over the whole run. "
      "Nothing is wrong.";
  patient.recipe.task = Task::text;
  patient.recipe.model = Model::gpt;
  patient.recipe.depth = 2;
  patient.recipe.width = 16;
  patient.recipe.sequence_length = 24;
  patient.recipe.batch_size = 8;
  patient.recipe.normalization = Normalisation::layer;
  patient.recipe.lr = 0.005;
  patient.recipe.warmup_steps = 20;
  patient.recipe.schedule = Schedule::cosine;
  patient.recipe.min_lr = 0.0005;
  patient.recipe.steps = 250;
  return patient;
}

}  // namespace osler::gallery::ward
