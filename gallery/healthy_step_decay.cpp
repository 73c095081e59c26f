// healthy-step-decay: SGD with momentum and a rate that falls in steps.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_step_decay() {
  Patient patient;
  patient.id = "healthy-step-decay";
  patient.title = "A rate that falls in steps";
  patient.story =
      "The rate is divided by ten at a third and at two thirds of the run. The loss drops with each step of the rate "
      "and is flat in between.";
  patient.recipe.schedule = Schedule::step;
  patient.recipe.optimizer = Optimizer::momentum;
  patient.recipe.lr = 0.02;
  return patient;
}

}  // namespace osler::gallery::ward
