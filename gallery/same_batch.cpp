// same-batch: the loader gives the same batch again and again.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient same_batch() {
  Patient patient;
  patient.id = "same-batch";
  patient.title = "An iterator that is rebuilt at every step";
  patient.story =
      "The loop asks for the first batch of a new iterator each time. The loss falls to nothing in no time, and "
      "everybody is pleased. The network has seen 64 samples.";
  patient.recipe.fresh_batches = false;
  patient.finding = "batch-repeated";
  patient.also = {"overfitting", "overconfidence"};
  patient.cause = "bad-batches";
  patient.causes = {"too-little-data"};
  patient.treatments = {{"Draw a new batch at every step", {{"fresh_batches", "on"}}}};
  patient.recovery.accuracy = 0.85;
  patient.lesson =
      "A training loss that falls to zero at once has seen one batch. Count how many different samples went in.";
  return patient;
}

}  // namespace osler::gallery::ward
