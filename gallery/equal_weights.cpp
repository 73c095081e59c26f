// equal-weights: every weight starts with the same value.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient equal_weights() {
  Patient patient;
  patient.id = "equal-weights";
  patient.title = "All weights start equal and stay equal";
  patient.story =
      "A constant initialisation, for reproducibility. Units with equal weights get equal gradients, so a "
      "layer of 64 units is one unit, 64 times.";
  patient.recipe.init = Initialisation::equal;
  patient.finding = "poor-initialization";
  patient.cause = "bad-initialization";
  patient.treatments = {{"Draw the weights by He's rule", {{"init", "he"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "Random weights are not a detail: only they let units become different. For reproducibility fix the "
      "seed.";
  return patient;
}

}  // namespace osler::gallery::ward
