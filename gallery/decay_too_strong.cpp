// decay-too-strong: weight decay that outweighs the gradient.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient decay_too_strong() {
  Patient patient;
  patient.id = "decay-too-strong";
  patient.title = "Weight decay that pulls the weights to zero faster than they learn";
  patient.story =
      "A decay of 0.3 was taken over from a paper that meant the decoupled decay of AdamW. In plain Adam it "
      "is part of the gradient and outweighs the loss.";
  patient.recipe.weight_decay = 0.3;
  patient.recipe.lr = 0.003;
  patient.finding = "weight-norm-collapsing";
  patient.cause = "too-much-regularization";
  patient.treatments = {{"Decay by 1e-4", {{"weight_decay", "1e-4"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Watch the size of the weights: if it falls while the loss rises, the decay is winning.";
  return patient;
}

}  // namespace osler::gallery::ward
