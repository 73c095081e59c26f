// dead-relu-bias: hidden biases so negative that hardly any ReLU ever opens.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient dead_relu_bias() {
  Patient patient;
  patient.id = "dead-relu-bias";
  patient.title = "ReLUs that were born dead";
  patient.story =
      "Somebody wanted sparse activations and started all hidden biases at -5. A unit that is zero for "
      "every sample gets no gradient, so it stays zero for ever.";
  patient.recipe.bias = -5;
  patient.finding = "dead-neurons";
  patient.cause = "dead-units";
  patient.treatments = {{"Start the biases at 0", {{"bias", "0"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "A dead ReLU does not recover by itself: its gradient is exactly zero. Biases start at 0, or use an "
      "activation without a dead side.";
  return patient;
}

}  // namespace osler::gallery::ward
