// layers-frozen: layers that were frozen for another task.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient layers_frozen() {
  Patient patient;
  patient.id = "layers-frozen";
  patient.title = "Frozen layers that were never trained";
  patient.story =
      "The script came from a fine-tuning job that froze the first layers. Here they are random, so the "
      "rest of the network learns from random features.";
  patient.recipe.trainable = false;
  patient.finding = "weights-frozen";
  patient.cause = "frozen-parameters";
  patient.treatments = {{"Let every layer train", {{"trainable", "on"}}}};
  patient.recovery.accuracy = 0.85;
  patient.lesson =
      "Freezing makes sense for layers that know something. Count what is frozen when a script changes its "
      "task.";
  return patient;
}

}  // namespace osler::gallery::ward
