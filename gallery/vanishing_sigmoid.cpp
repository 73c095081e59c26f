// vanishing-sigmoid: a deep sigmoid network whose first layers get no gradient.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient vanishing_sigmoid() {
  Patient patient;
  patient.id = "vanishing-sigmoid";
  patient.title = "A deep sigmoid network whose first layers never learn";
  patient.story =
      "The network was made deeper because deeper is better, and kept the sigmoid it always had. Each sigmoid passes "
      "at "
      "most a quarter of the gradient on, so fourteen of them leave next to nothing for the first layer.";
  patient.recipe.depth = 14;
  patient.recipe.activation = Activation::sigmoid;
  patient.recipe.init = Initialisation::xavier;
  patient.finding = "vanishing-by-depth";
  patient.cause = "vanishing-signal";
  patient.treatments = {{"Use ReLU with He initialisation and normalise between the layers",
                         {{"activation", "relu"}, {"init", "he"}, {"normalization", "layer"}}}};
  patient.recovery.accuracy = 0.85;
  patient.lesson =
      "Saturating activations shrink the gradient at every layer. ReLU with He initialisation, residual connections or "
      "normalisation keep its size.";
  return patient;
}

}  // namespace osler::gallery::ward
