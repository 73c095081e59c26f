// oscillating-late: a rate that goes on rising past what the training can take, so that it swings at the end.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient oscillating_late() {
  Patient patient;
  patient.id = "oscillating-late";
  patient.title = "A warm-up that never ends";
  patient.story =
      "The warm-up was given in epochs and read as steps, or the other way round: the rate rises until the last step. "
      "The first half looks like the best run ever. Then the steps get longer than the valley is wide, the loss starts "
      "to swing, and all that was learned is shaken off again.";
  patient.recipe.task = Task::regression;
  patient.recipe.depth = 2;
  patient.recipe.activation = Activation::tanh;
  patient.recipe.init = Initialisation::xavier;
  patient.recipe.lr = 0.2;
  patient.recipe.warmup_steps = 390;
  patient.recipe.schedule = Schedule::cosine;
  patient.recipe.min_lr = 0.0003;
  patient.finding = "loss-oscillating";
  patient.also = {"loss-diverging", "weight-norm-exploding"};
  patient.cause = "lr-too-high";
  patient.treatments = {{"Warm up for 20 steps to a hundredth of the rate", {{"lr", "0.002"}, {"warmup_steps", "20"}}}};
  patient.recovery.better_by = 0.5;
  patient.lesson =
      "A loss that falls well and then begins to swing asks for the rate at that step, not for the rate in the "
      "configuration. Look at both curves side by side.";
  return patient;
}

}  // namespace osler::gallery::ward
