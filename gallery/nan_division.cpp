// nan-division: rows are divided by their own spread, which is zero in one batch.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient nan_division() {
  Patient patient;
  patient.id = "nan-division";
  patient.title = "Rows scaled by their spread, until a row has none";
  patient.story =
      "To make outputs comparable, every row is divided by its spread. It works for hundreds of batches. Then comes "
      "one whose rows are constant: 0 / 0 is NaN, and the optimizer writes it into every weight.";
  patient.recipe.trap = Trap::division_by_zero;
  patient.recipe.skip_nonfinite = false;
  patient.finding = "loss-nonfinite-later";
  patient.also = {"gradient-nonfinite", "weights-nonfinite"};
  patient.cause = "division-by-zero";
  patient.treatments = {
      {"Put floors under logarithms, roots and denominators, and use the log-sum-exp trick", {{"guarded_math", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Every denominator needs a floor: x / (y + 1e-8). What was never zero so far is no guarantee.";
  return patient;
}

}  // namespace osler::gallery::ward
