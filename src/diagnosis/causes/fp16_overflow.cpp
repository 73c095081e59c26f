// fp16-overflow: values beyond 65504 do not fit into half precision.
#include "diagnosis/configured.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Half precision (float16) ends at 65504. Activations, attention logits or scaled gradients beyond that become Inf, and
Inf minus Inf becomes NaN. Dynamic loss scaling halves its factor and skips the step each time it meets one; when the
overflow is in the forward pass, no factor helps.

## How it shows
A loss scale that falls again and again, down to 1; gradient norms of Inf on single steps; NaN in the loss though the
same run in float32 is fine.

## What else looks like it
A gradient that really runs away (float32 fails as well), a bad operation in the loss. The first few halvings after
the start are normal: the factor is looking for its level.

## References
- Micikevicius et al. 2018, Mixed Precision Training.
- Kalamkar et al. 2019, A Study of BFLOAT16 for Deep Learning Training.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (precision(patient) == Precision::half && verdicts.found("loss-scale-collapsing") == nullptr) {
    found.push_back({1.2, "training runs in half precision"});
  }
  if (precision(patient) == Precision::unknown) found.push_back({-0.8, "nothing says that half precision is used"});
  const Reading* norm = patient.gradient_norm();
  if (norm != nullptr && norm->nonfinite > 0 && !norm->ends_nonfinite) {
    found.push_back({0.6, std::to_string(norm->nonfinite) + " gradient norms are not finite and the run went on, as "
                                                            "when loss scaling skips a step"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  if (precision(patient) == Precision::full) return "the configuration computes in 32 bits";
  if (precision(patient) == Precision::bfloat) return "the configuration uses bfloat16, whose range is that of float32";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Remedy> list;
  list.push_back(switch_to("Use dynamic loss scaling (GradScaler) and unscale the gradients before clipping.",
                           "loss_scale", "1024"));
  list.push_back(advice("Keep softmax, normalisation and the loss in float32."));
  list.push_back(change("Use bfloat16 where the hardware has it: same range as float32, no scaling needed.",
                        "precision", precision(patient) == Precision::half ? "fp16" : "", "bf16"));
  list.push_back(divide_learning_rate(patient, 3));
  if (first_harm(verdicts)) list.push_back(return_to_checkpoint(verdicts));
  return list;
}

}  // namespace

Cause fp16_overflow() {
  return {"fp16-overflow",
          "Values overflow half precision",
          kDoc,
          -1.7,
          {{"gradient-nonfinite", 0.8, 0, "scaled gradients are the first to leave the range"},
           {"weights-nonfinite", 0.8, 0, "a step that is not skipped carries the overflow into the weights"},
           {"loss-scale-collapsing", 4.5, -1.5, "the loss scale keeps meeting values beyond 65504"},
           {"loss-nonfinite-later", 1.6, 0, "an overflow in half precision ends in NaN"},
           {"loss-nonfinite-at-start", 3.1, 0, "large first activations overflow half precision at once"},
           {"loss-spikes", 0.2, 0, "a step that was half lost to overflow shows as a spike"},
           {"exploding-gradients", 0.1, 0, "large gradients are the first to overflow"},
           {"vanishing-gradients", -0.5, 0, "the gradient is small"}},
          "nan-replay",
          "Repeat the step in float32: if it stays finite, the range of half precision is the cause.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
