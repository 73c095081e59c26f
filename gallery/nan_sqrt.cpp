// nan-sqrt: the slope of a square root at zero is infinite.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient nan_sqrt() {
  Patient patient;
  patient.id = "nan-sqrt";
  patient.title = "A distance between two equal samples, and a finite loss with an infinite gradient";
  patient.story =
      "A regulariser asks for the distance of neighbouring predictions and takes the square root of a sum of squares. "
      "In one batch two neighbours are the same sample. The loss is finite, sqrt(0) is 0, but its slope is infinite: "
      "the gradient is NaN, and after the step the weights are too.";
  patient.recipe.trap = Trap::sqrt_at_zero;
  patient.recipe.skip_nonfinite = false;
  patient.finding = "gradient-nonfinite";
  patient.also = {"loss-nonfinite-later", "weights-nonfinite"};
  patient.cause = "sqrt-at-zero";
  patient.treatments = {
      {"Put floors under logarithms, roots and denominators, and use the log-sum-exp trick", {{"guarded_math", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "A finite loss can have an infinite gradient. Put the floor under the root, not behind it.";
  return patient;
}

}  // namespace osler::gallery::ward
