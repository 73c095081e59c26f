// clipped-to-a-crawl: a clipping threshold far below every gradient norm.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient clipped_to_a_crawl() {
  Patient patient;
  patient.id = "clipped-to-a-crawl";
  patient.title = "Clipping that shortens every step to a crawl";
  patient.story =
      "Clipping at 0.01 was meant as a safety net. The norms of this network are around 2, so every step is "
      "cut to a hundredth, the large ones and the ordinary ones alike.";
  patient.recipe.optimizer = Optimizer::sgd;
  patient.recipe.lr = 0.05;
  patient.recipe.clip_norm = 0.01;
  patient.finding = "clipping-always";
  patient.cause = "clip-threshold-too-small";
  patient.treatments = {{"Clip at the level that nine norms in ten stay below", {{"clip_norm", "5"}}}};
  patient.recovery.better_by = 0.7;
  patient.lesson =
      "A clipping threshold is a net under the rope, not the rope. Log the norm before clipping and put the "
      "threshold above nine norms in ten.";
  return patient;
}

}  // namespace osler::gallery::ward
