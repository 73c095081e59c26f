// saturated-tanh: weights of size 1 in front of tanh.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient saturated_tanh() {
  Patient patient;
  patient.id = "saturated-tanh";
  patient.title = "A tanh network whose units sit at their ends from the first step";
  patient.story =
      "The weights were drawn from a normal distribution of size 1, as randn gives them. Sums of sixty such "
      "numbers push every tanh to -1 or 1, where it has no slope.";
  patient.recipe.activation = Activation::tanh;
  patient.recipe.depth = 6;
  patient.recipe.init = Initialisation::normal;
  patient.recipe.init_std = 1;
  patient.finding = "saturated-activations";
  patient.cause = "saturation";
  patient.causes = {"bad-initialization"};
  patient.treatments = {{"Initialise for tanh", {{"init", "xavier"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "A saturated unit has no slope, so no gradient passes it. Keep the first activations within the "
      "curved part: Xavier initialisation, or normalisation before the activation.";
  return patient;
}

}  // namespace osler::gallery::ward
