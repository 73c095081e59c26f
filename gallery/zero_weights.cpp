// zero-weights: every weight starts at zero.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient zero_weights() {
  Patient patient;
  patient.id = "zero-weights";
  patient.title = "A network that starts on a saddle";
  patient.story =
      "Zero is neutral, so all weights start there. No unit gives a signal to the next and no gradient "
      "comes back: only the last bias can learn.";
  patient.recipe.init_gain = 0;
  patient.finding = "poor-initialization";
  patient.also = {"loss-stuck-from-start"};
  patient.cause = "bad-initialization";
  patient.causes = {"saddle-point"};
  patient.treatments = {{"Draw the weights by He's rule", {{"init_gain", "1"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "All zero is a saddle point of every deep network: the gradient is zero there, and a way down exists.";
  return patient;
}

}  // namespace osler::gallery::ward
