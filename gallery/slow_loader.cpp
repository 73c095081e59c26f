// slow-loader: the loader takes longer than the step.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient slow_loader() {
  Patient patient;
  patient.id = "slow-loader";
  patient.title = "A loader that the network waits for";
  patient.story =
      "Every batch is decoded when it is asked for, by one worker, from a slow disk. The network computes for a "
      "millisecond and waits for ten. Nothing is wrong with the learning; it takes ten times as long.";
  patient.recipe.slow_data_ms = 12;
  patient.recipe.steps = 250;
  patient.finding = "input-starved";
  patient.treatments = {{"Load ahead, in other threads", {{"slow_data_ms", "0"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Measure where a step spends its time before you buy a faster machine.";
  return patient;
}

}  // namespace osler::gallery::ward
