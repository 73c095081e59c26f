// healthy-small-batch: batches of four: noisy, and learning.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_small_batch() {
  Patient patient;
  patient.id = "healthy-small-batch";
  patient.title = "Noisy batches of four";
  patient.story =
      "Four samples in a batch make a loss that jumps from step to step. Behind the noise it falls, and validation "
      "with it.";
  patient.recipe.batch_size = 4;
  patient.recipe.lr = 3e-4;
  patient.recipe.steps = 800;
  return patient;
}

}  // namespace osler::gallery::ward
