// fp16-overflow: the loss is so large that its gradients do not fit into half precision.
#include "osler/gallery/patient.h"

namespace osler::gallery::ward {

Patient fp16_overflow() {
  Patient patient;
  patient.id = "fp16-overflow";
  patient.title = "A loss scale that falls and falls";
  patient.story =
      "To save memory the network runs in half precision, with loss scaling as the manual says. But the loss is summed "
      "over everything and weighted up, which Adam does not mind: it divides by the size of the gradient. Half "
      "precision does: gradients beyond 65504 are infinite. The scaler halves its factor at every step, down to 1, and "
      "it still overflows.";
  patient.recipe.task = Task::reconstruction;
  patient.recipe.precision = Precision::fp16;
  patient.recipe.loss_scale = 65536;
  patient.recipe.loss_weight = 1e8;
  patient.finding = "loss-scale-collapsing";
  patient.also = {"gradient-nonfinite"};
  patient.cause = "fp16-overflow";
  patient.treatments = {{"Use bfloat16, which has the range of float32", {{"precision", "bf16"}}},
                        {"Use float32", {{"precision", "fp32"}}}};
  patient.recovery.better_by = 0.8;
  patient.lesson =
      "Half precision ends at 65504. A loss scale that never comes to rest means that values overflow whatever the "
      "factor.";
  return patient;
}

}  // namespace osler::gallery::ward
