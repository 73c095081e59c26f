// log-of-zero: the logarithm of a probability that has become zero.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/breakage.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A probability underflows to exactly 0 (a float32 softmax does so when logits differ by more than about 100), its
logarithm is minus infinity, the loss is Inf and its gradient NaN. Perplexity, KL terms and hand-written
cross-entropies are the usual places.

## How it shows
Inf or NaN from one step to the next: the loss was ordinary, the gradient norm was ordinary, nothing announced it.

## What else looks like it
A division by zero, an exponential that overflows, a corrupt sample; a gradient that ran away announces itself.

## References
- Goldberg 1991, What Every Computer Scientist Should Know About Floating-Point Arithmetic.
- Blanchard, Higham, Higham 2021, Accurately Computing the Log-Sum-Exp and Softmax Functions.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  weigh_break(patient, -1.4, 0.9, found);
  if (loss_without_logarithm(patient)) found.push_back({-2.0, "the loss takes no logarithm"});
  if (gradient_broke_first(patient)) found.push_back({-1.5, "the gradient broke before the loss did"});
  if (break_recovered(verdicts)) found.push_back({-0.4, "the loss became finite again by itself"});
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts& verdicts) {
  return {switch_to("Clamp what goes into the logarithm: log(max(x, 1e-8)).", "guarded_math", "on"),
          compute_loss_from_logits(), replay_break(verdicts), return_to_checkpoint(verdicts)};
}

}  // namespace

Cause log_of_zero() {
  return {"log-of-zero",
          "The loss takes the logarithm of zero",
          kDoc,
          -2.6,
          {{"gradient-nonfinite", 0.7, 0, "the slope of a logarithm at zero is infinite"},
           {"loss-nonfinite-at-start", 3.2, 0, "a logarithm of zero breaks the loss without warning"},
           {"loss-nonfinite-later", 1.3, 0, "sooner or later a probability underflows to zero"},
           {"exploding-gradients", -2.2, 0.4, "the gradient ran away first"},
           {"loss-diverging", -1.0, 0, "the loss climbed first"},
           {"loss-scale-collapsing", -0.8, 0, "the range of half precision explains it"}},
          "nan-replay",
          "Replay the step that broke under NaN tracing: it names the operation and its inputs.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
