// in-place-mask: a mask is written into a tensor that the backward pass still needs.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient in_place_mask() {
  Patient patient;
  patient.id = "in-place-mask";
  patient.title = "A mask written over what the gradient needs";
  patient.story =
      "Rows are divided by their spread. Afterwards the spread is masked for a statistic, and to save memory the mask "
      "is "
      "written into the very same tensor, through its raw data, where the framework cannot notice. For hundreds of "
      "batches the mask is all ones. Then comes a batch in which everything is masked. The loss is as finite as ever; "
      "but the gradient divides by the spread once more, and that is zero now.";
  patient.recipe.trap = Trap::in_place;
  patient.recipe.skip_nonfinite = false;
  patient.finding = "gradient-nonfinite";
  patient.also = {"loss-nonfinite-later", "weights-nonfinite"};
  patient.cause = "in-place-modification";
  patient.treatments = {{"Mask a copy instead of the tensor that the gradient needs", {{"guarded_math", "on"}}}};
  patient.recovery.accuracy = 0.8;
  patient.lesson =
      "What the forward pass has computed belongs to the backward pass. Write y = x * mask, never into x through "
      ".data: "
      "there nobody sees it, and the gradient is one of something else.";
  return patient;
}

}  // namespace osler::gallery::ward
