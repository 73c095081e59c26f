// checkpoint-without-schedule: the schedule is not in the checkpoint, and the resumed run starts it anew.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient checkpoint_without_schedule() {
  Patient patient;
  patient.id = "checkpoint-without-schedule";
  patient.title = "A checkpoint with everything but the schedule";
  patient.story =
      "The checkpoint holds the model and the optimizer. The machine was restarted late in the run, and the schedule "
      "began again at its peak: a network that had settled is shaken at full rate.";
  patient.recipe.schedule = Schedule::cosine;
  patient.recipe.lr = 3e-3;
  patient.recipe.resume_at = 320;
  patient.recipe.resume_schedule = false;
  patient.finding = "scheduler-not-checkpointed";
  patient.also = {"learning-rate-jump", "loss-spikes", "late-loss-variance"};
  patient.cause = "scheduler-state-lost";
  patient.treatments = {{"Save and load the schedule's state", {{"resume_schedule", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "A checkpoint is the model, the optimizer, the schedule, the random numbers and the place in the data.";
  return patient;
}

}  // namespace osler::gallery::ward
