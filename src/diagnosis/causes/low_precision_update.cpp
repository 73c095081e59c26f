// low-precision-update: updates are rounded away in 16-bit weights.
#include "diagnosis/configured.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A bfloat16 weight has 8 significant bits: an update below about 1/256 of the weight rounds to nothing. A healthy update
is a thousandth. Stored in 16 bits without a float32 copy, most weights simply stop; small gradients in float16
underflow to zero before they get that far.

## How it shows
A good start, then a standstill once the learning rate has decayed a little; tiny or zero updates with ordinary
gradients; a floor that float32 passes easily.

## What else looks like it
A spent learning rate, convergence, frozen parameters.

## References
- Gupta et al. 2015, Deep Learning with Limited Numerical Precision: stochastic rounding.
- Micikevicius et al. 2018, Mixed Precision Training: the float32 master copy.
- Zamirai et al. 2020, Revisiting BFloat16 Training.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const Precision format = precision(patient);
  if (format == Precision::unknown) found.push_back({-1.5, "nothing says that 16-bit numbers are used"});
  if (format == Precision::bfloat) found.push_back({1.2, "training runs in bfloat16"});
  if (format == Precision::half) found.push_back({0.6, "training runs in half precision"});
  if (format == Precision::bfloat || format == Precision::half) weigh_ordinary_norms(patient, verdicts, 0.3, found);
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  if (precision(patient) == Precision::full) return "the configuration computes in 32 bits";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts&) {
  return {switch_to("Keep a float32 copy of the weights for the optimizer (mixed precision, not pure 16 bits).",
                    "precision", "fp32"),
          advice("If memory forbids it, round stochastically or use Kahan summation in the update."),
          advice("Keep Adam's moments in float32, and its epsilon above 1e-7.")};
}

}  // namespace

Cause low_precision_update() {
  return {"low-precision-update",
          "Updates are lost to 16-bit rounding",
          kDoc,
          -3.2,
          {{"updates-lost-to-precision", 4.7, 0, "updates were seen to vanish in the number format"},
           {"updates-too-small", 2.4, 0, "updates below the weight's resolution have no effect"},
           {"loss-stuck-after-drop", 1.3, 0, "as the steps shrink, rounding swallows them"},
           {"loss-plateau", 0.9, 0, "rounding holds the weights in place"},
           {"gradients-mostly-zero", 1.0, 0, "small gradients underflow to zero"},
           {"vanishing-gradients", 0.8, 0, "small gradients underflow in half precision"},
           {"loss-stuck-from-start", 1.0, 0, "updates that round to nothing learn nothing"},
           {"loss-too-slow", 0.9, 0, "only the largest updates survive the rounding"},
           {"loss-scale-collapsing", 0.5, 0, "a small loss scale lets gradients underflow"},
           {"underfitting", 0.4, 0, "the last digits of the weights are out of reach"},
           {"updates-too-large", -2.5, 0, "the updates are large"},
           {"exploding-gradients", -1.5, 0, "the gradient is large"}},
          "",
          "Compare the weights before and after one step: equal to the last bit in most places confirms it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
