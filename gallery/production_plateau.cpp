// production-plateau: a transformer whose cosine schedule was laid out for a seventh of the run.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient production_plateau() {
  Patient patient;
  patient.id = "production-plateau";
  patient.title = "A flat validation loss in production";
  patient.story =
      "Validation has been flat for hours, the training loss hardly moves, the gradient norms are healthy "
      "and nothing is NaN. The cosine schedule was laid out for a seventh of the run.";
  patient.recipe.task = Task::text;
  patient.recipe.model = Model::gpt;
  patient.recipe.depth = 2;
  patient.recipe.width = 24;
  patient.recipe.sequence_length = 24;
  patient.recipe.batch_size = 32;
  patient.recipe.normalization = Normalisation::layer;
  patient.recipe.lr = 0.003;
  patient.recipe.warmup_steps = 10;
  patient.recipe.schedule = Schedule::cosine;
  patient.recipe.schedule_length = 0.15;
  patient.recipe.min_lr = 1e-6;
  patient.recipe.steps = 400;
  patient.finding = "updates-too-small";
  patient.also = {"learning-rate-spent"};
  patient.cause = "lr-decayed-too-fast";
  patient.treatments = {{"Lay the schedule out over the whole run", {{"schedule_length", "1"}}}};
  patient.recovery.better_by = 0.97;
  patient.lesson =
      "Before converged, saddle point or overfitting is believed, look at the learning rate: a schedule "
      "that has run out looks like all of them.";
  return patient;
}

}  // namespace osler::gallery::ward
