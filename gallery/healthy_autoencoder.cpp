// healthy-autoencoder: an autoencoder through a narrow place.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_autoencoder() {
  Patient patient;
  patient.id = "healthy-autoencoder";
  patient.title = "A reconstruction through a narrow place";
  patient.story =
      "Pictures are squeezed through sixteen numbers and drawn again. The loss ends far from zero because sixteen "
      "numbers do not hold a picture: that is the point.";
  patient.recipe.task = Task::reconstruction;
  return patient;
}

}  // namespace osler::gallery::ward
