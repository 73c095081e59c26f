// lr-too-low: a learning rate a thousand times too low.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient lr_too_low() {
  Patient patient;
  patient.id = "lr-too-low";
  patient.title = "A learning rate so low that training seems to work, only never finishes";
  patient.story =
      "After a run that diverged the learning rate was lowered, and lowered again, to be safe. The loss "
      "falls, so nothing seems wrong; at this pace it would take a hundred thousand steps.";
  patient.recipe.lr = 1e-6;
  patient.finding = "updates-too-small";
  patient.cause = "lr-too-low";
  patient.treatments = {{"Use the usual rate of Adam", {{"lr", "1e-3"}}}};
  patient.recovery.better_by = 0.5;
  patient.lesson =
      "Look at how much a step changes the weights: a thousandth of their size is healthy, a hundred "
      "thousandth is standing still.";
  return patient;
}

}  // namespace osler::gallery::ward
