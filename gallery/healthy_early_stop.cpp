// healthy-early-stop: a run that is stopped before its schedule ends.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient healthy_early_stop() {
  Patient patient;
  patient.id = "healthy-early-stop";
  patient.title = "Stopped early";
  patient.story =
      "The schedule was laid out for twice as many steps, and the run was stopped when validation had what it needed. "
      "The rate had not come down yet.";
  patient.recipe.schedule = Schedule::cosine;
  patient.recipe.samples = 6000;
  patient.recipe.steps = 600;
  patient.recipe.stop_step = 250;
  return patient;
}

}  // namespace osler::gallery::ward
