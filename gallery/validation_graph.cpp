// validation-graph: validation builds a graph for a backward pass that never comes.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient validation_graph() {
  Patient patient;
  patient.id = "validation-graph";
  patient.title = "Validation without no_grad";
  patient.story =
      "The validation loop computes outputs just as training does, graph and all. The numbers are right. It takes "
      "twice the memory, and on a larger model it is where the run ends.";
  patient.recipe.no_grad = false;
  patient.finding = "validation-builds-graph";
  patient.treatments = {{"Validate without gradients", {{"no_grad", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson = "Wrap validation in a no-grad guard. The finding is its own explanation: there is no deeper cause.";
  return patient;
}

}  // namespace osler::gallery::ward
