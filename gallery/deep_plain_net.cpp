// deep-plain-net: sixteen layers, the library's default weights, no normalisation.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient deep_plain_net() {
  Patient patient;
  patient.id = "deep-plain-net";
  patient.title = "A deep network with nothing to keep its signal at one size";
  patient.story =
      "The network was made sixteen layers deep with the default weights of the library, which shrink the "
      "signal to four tenths at every layer. Nothing between the layers brings it back.";
  patient.recipe.depth = 16;
  patient.recipe.init_gain = 0.41;
  patient.recipe.activation = Activation::leaky_relu;
  patient.recipe.optimizer = Optimizer::momentum;
  patient.recipe.lr = 0.02;
  patient.finding = "loss-stuck-from-start";
  patient.cause = "missing-normalization";
  patient.causes = {"vanishing-signal", "bad-initialization"};
  patient.treatments = {
      {"Normalise between the layers and add residual connections", {{"normalization", "layer"}, {"residual", "on"}}}};
  patient.recovery.accuracy = 0.6;
  patient.lesson =
      "What is harmless in three layers is fatal in sixteen. Normalisation, residual connections or He's "
      "rule keep the size of the signal.";
  return patient;
}

}  // namespace osler::gallery::ward
