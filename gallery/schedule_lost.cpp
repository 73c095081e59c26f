// schedule-lost: a resume that starts the schedule anew.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient schedule_lost() {
  Patient patient;
  patient.id = "schedule-lost";
  patient.title = "A resume that forgot where its schedule was";
  patient.story =
      "The job was killed and resumed from its checkpoint: weights, optimizer, but not the scheduler. The "
      "rate jumps back to its peak and never comes down again.";
  patient.recipe.schedule = Schedule::cosine;
  patient.recipe.lr = 0.02;
  patient.recipe.resume_at = 160;
  patient.recipe.resume_schedule = false;
  patient.finding = "learning-rate-jump";
  patient.also = {"scheduler-not-checkpointed"};
  patient.cause = "scheduler-state-lost";
  patient.treatments = {{"Save and load the scheduler with the model", {{"resume_schedule", "on"}}}};
  patient.recovery.better_by = 0.95;
  patient.lesson =
      "A checkpoint is complete when it holds model, optimizer, scheduler and step. After a resume compare "
      "the rate with the last one before it.";
  return patient;
}

}  // namespace osler::gallery::ward
