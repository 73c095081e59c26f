// diverging-quietly: the loss climbs far above its best while every number stays finite.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient diverging_quietly() {
  Patient patient;
  patient.id = "diverging-quietly";
  patient.title = "A training that is lost without a single NaN";
  patient.story =
      "The job ran to its end, no check for NaN ever fired, and the log looked busy. But the rate rose slowly to a "
      "hundred times what this network takes. On the way the loss turned and climbed; tanh keeps every number finite, "
      "so nothing stopped it.";
  patient.recipe.activation = Activation::tanh;
  patient.recipe.init = Initialisation::xavier;
  patient.recipe.lr = 0.1;
  patient.recipe.warmup_steps = 390;
  patient.finding = "loss-diverging";
  patient.also = {"saturated-activations", "collapsed-representation"};
  patient.cause = "lr-too-high";
  patient.treatments = {{"Divide the rate by 100", {{"lr", "0.001"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "A loss can be lost and finite. Compare the end with the best, not with infinity, and keep the best weights.";
  return patient;
}

}  // namespace osler::gallery::ward
