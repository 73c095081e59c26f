// division-by-zero: a denominator without a floor.
#include "diagnosis/configured.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A mean over zero unmasked tokens, a variance of a constant batch, a vector of length zero to be normalised, a ratio of
counts: the denominator is 0 and 0/0 is NaN.

## How it shows
NaN from one step to the next with an ordinary loss before it, often on a batch that is special: empty after masking,
constant, or of size one.

## What else looks like it
A logarithm of zero, a corrupt sample, an exponential that overflows.

## References
- Goldberg 1991, What Every Computer Scientist Should Know About Floating-Point Arithmetic.
- Ioffe and Szegedy 2015, Batch Normalization: the epsilon under the root.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  weigh_break(patient, -1.4, 0.7, found);
  if (break_recovered(verdicts)) found.push_back({0.4, "the loss became finite again: it depended on the batch"});
  if (const auto size = batch_size(patient); size && *size <= 2) {
    found.push_back({0.4, "statistics over " + number(*size) + " samples easily have no spread"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts& verdicts) {
  return {switch_to("Add a floor to every denominator: x / (y + 1e-8), max(count, 1) for means over a mask.",
                    "guarded_math", "on"),
          advice("Skip batches that are empty after masking; drop a last batch of size one."), replay_break(verdicts),
          return_to_checkpoint(verdicts)};
}

}  // namespace

Cause division_by_zero() {
  return {"division-by-zero",
          "Something is divided by zero",
          kDoc,
          -2.4,
          {{"gradient-nonfinite", 1.3, 0, "a quotient that breaks breaks its gradient as well"},
           {"loss-nonfinite-at-start", 3.1, 0, "a denominator without a floor breaks the loss without warning"},
           {"loss-nonfinite-later", 2.8, 0, "sooner or later a denominator is zero"},
           {"exploding-gradients", -1.0, -0.6, "the gradient ran away first"},
           {"loss-diverging", -1.1, 0, "the loss climbed first"},
           {"loss-spikes", 0.1, 0, "denominators near zero make large values"}},
          "nan-replay",
          "Replay the step that broke under NaN tracing: it names the operation and its inputs.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
