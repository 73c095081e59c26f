// corrupt-samples: a few samples are a thousand times too large.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient corrupt_samples() {
  Patient patient;
  patient.id = "corrupt-samples";
  patient.title = "Samples in the wrong unit";
  patient.story =
      "A handful of samples was recorded in millivolts, not volts: a thousand times too large. A batch with one of "
      "them has an enormous loss, its gradient throws the weights about, and the next batches repair what they can.";
  patient.recipe.bad_samples = 0.002;
  patient.finding = "batch-extreme";
  patient.also = {"loss-spikes", "exploding-gradients", "exploding-activations"};
  patient.cause = "corrupt-data";
  patient.treatments = {{"Leave out batches with extreme values", {{"check_batches", "on"}}}};
  patient.recovery.better_by = 0.95;
  patient.lesson =
      "Spikes that recover come from the data. Look at the batch of a spike before you touch the learning rate.";
  return patient;
}

}  // namespace osler::gallery::ward
