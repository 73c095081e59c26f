// nan-log: an entropy term takes the logarithm of a probability that is exactly zero.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient nan_log() {
  Patient patient;
  patient.id = "nan-log";
  patient.title = "An entropy bonus that is fine until a prediction is certain";
  patient.story =
      "The loss has a small term for the entropy of the prediction, written as it stands in the book: p log p. Halfway "
      "through, one batch is so easy that the softmax underflows to exactly 0 for some classes. The logarithm is minus "
      "infinity, 0 times infinity is NaN, and one optimizer step later every weight is NaN.";
  patient.recipe.trap = Trap::log_of_zero;
  patient.recipe.skip_nonfinite = false;
  patient.finding = "loss-nonfinite-later";
  patient.also = {"gradient-nonfinite", "weights-nonfinite"};
  patient.cause = "log-of-zero";
  patient.treatments = {
      {"Put floors under logarithms, roots and denominators, and use the log-sum-exp trick", {{"guarded_math", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "A probability can be exactly zero. Clamp what goes into a logarithm, or compute from logits; the replay of the "
      "broken step names the operation.";
  return patient;
}

}  // namespace osler::gallery::ward
