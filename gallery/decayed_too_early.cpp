// decayed-too-early: a cosine schedule that was laid out for a tenth of the run.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient decayed_too_early() {
  Patient patient;
  patient.id = "decayed-too-early";
  patient.title = "A schedule that ends when the work has hardly begun";
  patient.story =
      "The cosine schedule was given the number of steps of last week's short trial. The run was made ten "
      "times longer, the schedule was not, so the optimizer stands still for most of it with healthy "
      "gradients.";
  patient.recipe.schedule = Schedule::cosine;
  patient.recipe.schedule_length = 0.1;
  patient.finding = "learning-rate-spent";
  patient.cause = "lr-decayed-too-fast";
  patient.treatments = {{"Lay the schedule out over the whole run", {{"schedule_length", "1"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "A flat loss with healthy gradients: look at the learning rate before you look at the model.";
  return patient;
}

}  // namespace osler::gallery::ward
