// diverging-sgd: a learning rate so high that the first steps throw the network off.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient diverging_sgd() {
  Patient patient;
  patient.id = "diverging-sgd";
  patient.title = "A learning rate that throws the network off in its first steps";
  patient.story =
      "A rate of 10 was copied from a paper that trained with batches of thousands and a long warm-up. Here "
      "every step overshoots the valley by more than it gains, and a handful of steps later nothing is a "
      "number any more.";
  patient.recipe.optimizer = Optimizer::sgd;
  patient.recipe.lr = 10;
  patient.finding = "loss-nonfinite-at-start";
  patient.cause = "lr-too-high";
  patient.treatments = {{"Divide the learning rate by 100", {{"lr", "0.1"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "A loss that starts right and is NaN ten steps later almost always means steps that are too long. Try "
      "a tenth of the rate before anything else.";
  return patient;
}

}  // namespace osler::gallery::ward
