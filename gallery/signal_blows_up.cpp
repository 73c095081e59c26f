// signal-blows-up: weights three times too large in a deep network.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient signal_blows_up() {
  Patient patient;
  patient.id = "signal-blows-up";
  patient.title = "A deep network that multiplies its signal by three at every layer";
  patient.story =
      "The weights are only three times too large, which looks harmless in any one layer. Ten layers make "
      "it a factor of sixty thousand.";
  patient.recipe.depth = 10;
  patient.recipe.init = Initialisation::normal;
  patient.recipe.init_std = 0.5;
  patient.finding = "exploding-activations";
  patient.cause = "bad-initialization";
  patient.causes = {"exploding-signal"};
  patient.treatments = {{"Initialise by He's rule", {{"init", "he"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "Look at the size of the activations layer by layer at the first step: it should be the same "
      "everywhere.";
  return patient;
}

}  // namespace osler::gallery::ward
