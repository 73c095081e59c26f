// few-samples: sixty digits and a network that can learn them by heart.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient few_samples() {
  Patient patient;
  patient.id = "few-samples";
  patient.title = "Sixty samples, learned by heart";
  patient.story =
      "Only sixty labelled digits were at hand. The training loss goes to zero, the validation loss turns "
      "and climbs: the network knows these sixty, not digits.";
  patient.recipe.samples = 60;
  patient.recipe.batch_size = 20;
  patient.recipe.steps = 1000;
  patient.finding = "overconfidence";
  patient.also = {"overfitting"};
  patient.cause = "too-little-data";
  patient.causes = {"model-too-large"};
  patient.treatments = {{"Collect more data", {{"samples", "2000"}, {"batch_size", "64"}}}};
  patient.recovery.better_by = 0.9;
  patient.lesson =
      "Validation that turns up while training falls on is memorising. More data is the cure; stopping at "
      "the valley is first aid.";
  return patient;
}

}  // namespace osler::gallery::ward
