// sqrt-at-zero: the slope of a square root at zero is infinite.
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The square root of 0 is 0, its derivative is infinite. Distances between equal points, norms of zero vectors and
standard deviations of constant features have a fine forward value and a backward one of Inf, which times 0 is NaN.

## How it shows
The loss is finite at the step, the gradient is not; the weights are NaN after the update and the loss at the next
step. Typical of metric learning, contrastive losses and hand-written norms.

## What else looks like it
A division by zero (the forward value is bad already), a logarithm of zero, a gradient that ran away (it grows first).

## References
- Goldberg 1991, What Every Computer Scientist Should Know About Floating-Point Arithmetic.
- Griewank and Walther 2008, Evaluating Derivatives: where chain-rule factors are not defined.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  weigh_break(patient, -1.4, 0.5, found);
  if (loss_without_logarithm(patient)) found.push_back({1.2, "distances and errors are where roots are taken"});
  const Reading* norm = patient.gradient_norm();
  const Reading* loss = patient.training();
  if (norm != nullptr && loss != nullptr && norm->nonfinite > 0 && loss->nonfinite > 0 &&
      norm->first_nonfinite_step < loss->first_nonfinite_step) {
    found.push_back({1.0, "the gradient was not finite at " + at_step(norm->first_nonfinite_step) +
                              ", before the loss at " + at_step(loss->first_nonfinite_step)});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts& verdicts) {
  return {switch_to("Put a floor under the root: sqrt(x + 1e-8); use squared distances where the root is not needed.",
                    "guarded_math", "on"),
          advice("Do not take distances of a point to itself: mask the diagonal before the root, not after."),
          replay_break(verdicts), return_to_checkpoint(verdicts)};
}

}  // namespace

Cause sqrt_at_zero() {
  return {"sqrt-at-zero",
          "A square root is differentiated at zero",
          kDoc,
          -2.8,
          {{"gradient-nonfinite", 1.2, 0, "an infinite slope makes the gradient infinite where the loss is finite"},
           {"loss-nonfinite-at-start", 2.6, 0, "an infinite slope spoils the weights in one step"},
           {"loss-nonfinite-later", 0.9, 0, "sooner or later two values coincide"},
           {"exploding-gradients", -0.5, -0.2, "the gradient grew before it broke"},
           {"loss-diverging", -1.0, 0, "the loss climbed first"}},
          "nan-replay",
          "Replay the step that broke under NaN tracing: a backward root with a zero input confirms it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
