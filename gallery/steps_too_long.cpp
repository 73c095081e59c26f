// steps-too-long: plain SGD at a hundred times its usual rate, under saturating units that hide it.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient steps_too_long() {
  Patient patient;
  patient.id = "steps-too-long";
  patient.title = "Steps so long that each one makes another network";
  patient.story =
      "The loss did not explode at a rate of 10, so the rate seemed fine: tanh keeps every activation "
      "within -1 and 1. But each step changes the weights by a large share of their size, and the network "
      "never settles.";
  patient.recipe.task = Task::clouds;
  patient.recipe.depth = 1;
  patient.recipe.activation = Activation::tanh;
  patient.recipe.optimizer = Optimizer::sgd;
  patient.recipe.lr = 10;
  patient.finding = "updates-too-large";
  patient.cause = "lr-too-high";
  patient.treatments = {{"Divide the learning rate by 100", {{"lr", "0.1"}}}};
  patient.recovery.better_by = 0.7;
  patient.lesson =
      "Bounded activations hide a learning rate that is too high. The size of the update against the size "
      "of the weights does not.";
  return patient;
}

}  // namespace osler::gallery::ward
