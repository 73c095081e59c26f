// signal-dies-out: weights of size 0.01 in a deep network.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient signal_dies_out() {
  Patient patient;
  patient.id = "signal-dies-out";
  patient.title = "A deep network whose signal dies on its way to the output";
  patient.story =
      "A size of 0.01 was in an old recipe for shallow networks. Each of eight layers passes on a tenth of "
      "what it gets, so the output does not depend on the input, and no gradient comes back either.";
  patient.recipe.depth = 8;
  patient.recipe.init = Initialisation::normal;
  patient.recipe.init_std = 0.01;
  patient.recipe.optimizer = Optimizer::momentum;
  patient.recipe.lr = 0.02;
  patient.finding = "vanishing-activations";
  patient.cause = "bad-initialization";
  patient.causes = {"vanishing-signal"};
  patient.treatments = {{"Initialise by He's rule", {{"init", "he"}}}};
  patient.recovery.accuracy = 0.7;
  patient.lesson =
      "A factor per layer is a power over the depth. He's rule keeps the size of the signal the same from "
      "layer to layer.";
  return patient;
}

}  // namespace osler::gallery::ward
