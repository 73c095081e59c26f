// exploding-deep: a deep network with large weights and no clipping.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient exploding_deep() {
  Patient patient;
  patient.id = "exploding-deep";
  patient.title = "Gradients that explode through ten layers";
  patient.story =
      "The weights of a deep network are not quite twice too large. Backward through ten layers that is a "
      "factor of hundreds, so the gradients leap and nothing clips them; a tiny learning rate was the only "
      "one that did not end in NaN.";
  patient.recipe.depth = 10;
  patient.recipe.init = Initialisation::normal;
  patient.recipe.init_std = 0.32;
  patient.recipe.optimizer = Optimizer::sgd;
  patient.recipe.lr = 1e-5;
  patient.finding = "exploding-gradients";
  patient.cause = "exploding-signal";
  patient.causes = {"bad-initialization", "no-clipping"};
  patient.treatments = {{"Initialise by He's rule and take longer steps", {{"init", "he"}, {"lr", "0.05"}}}};
  patient.recovery.accuracy = 0.5;
  patient.lesson =
      "Clipping by the global norm turns one impossible step into a long one. The cause is the size of the "
      "weights: fix both.";
  return patient;
}

}  // namespace osler::gallery::ward
