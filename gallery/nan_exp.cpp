// nan-exp: a partition function overflows because the largest logit was not taken out.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient nan_exp() {
  Patient patient;
  patient.id = "nan-exp";
  patient.title = "A hand-written log-sum-exp that overflows";
  patient.story =
      "The log of a sum of exponentials, typed as the formula says. In float32 the exponential overflows beyond 88. "
      "One batch has large logits, exp gives infinity, and the gradient of infinity over infinity is NaN.";
  patient.recipe.trap = Trap::exp_overflow;
  patient.recipe.skip_nonfinite = false;
  patient.finding = "loss-nonfinite-later";
  patient.also = {"gradient-nonfinite", "weights-nonfinite"};
  patient.cause = "exp-overflow";
  patient.treatments = {
      {"Put floors under logarithms, roots and denominators, and use the log-sum-exp trick", {{"guarded_math", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Subtract the largest logit before the exponential, or call logsumexp, which does.";
  return patient;
}

}  // namespace osler::gallery::ward
