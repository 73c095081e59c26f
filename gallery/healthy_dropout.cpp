// healthy-dropout: dropout burdens training alone, so validation looks better.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_dropout() {
  Patient patient;
  patient.id = "healthy-dropout";
  patient.title = "Validation better than training, and rightly so";
  patient.story =
      "A third of the units is left out while training and none while validating. Validation is better than training "
      "all along, and nothing has leaked.";
  patient.recipe.dropout = 0.3;
  patient.recipe.width = 128;
  patient.recipe.samples = 6000;
  patient.recipe.lr = 5e-4;
  return patient;
}

}  // namespace osler::gallery::ward
