// raw-inputs: pixels from 0 to 255.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient raw_inputs() {
  Patient patient;
  patient.id = "raw-inputs";
  patient.title = "Pixels from 0 to 255";
  patient.story =
      "The pictures go in as they come out of the file: bytes from 0 to 255. The first loss is not 2.3 but dozens, the "
      "first steps are spent on bringing it down, and the network ends worse than it would.";
  patient.recipe.standardise = false;
  patient.finding = "batch-unnormalized";
  patient.also = {"batch-extreme", "initial-loss-wrong", "exploding-activations"};
  patient.cause = "data-not-normalized";
  patient.treatments = {{"Give inputs mean 0 and standard deviation 1", {{"input_normalization", "on"}}}};
  patient.recovery.accuracy = 0.85;
  patient.lesson = "Initialisation and the usual learning rates assume inputs around 0 with a spread of 1.";
  return patient;
}

}  // namespace osler::gallery::ward
