// gradients-never-cleared: nobody calls zero_grad.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient gradients_never_cleared() {
  Patient patient;
  patient.id = "gradients-never-cleared";
  patient.title = "Gradients that are never cleared";
  patient.story =
      "The training loop was written from memory and zero_grad was left out. Each step follows the sum of "
      "all gradients since the start.";
  patient.recipe.zero_grad = false;
  patient.finding = "gradients-accumulating";
  patient.cause = "missing-zero-grad";
  patient.treatments = {{"Clear the gradients before each step", {{"zero_grad", "on"}}}};
  patient.recovery.accuracy = 0.85;
  patient.lesson =
      "PyTorch adds gradients up on purpose. Who does not clear them trains with a momentum that never "
      "forgets.";
  return patient;
}

}  // namespace osler::gallery::ward
