// in-place-modification: a tensor is overwritten after the graph has saved it.
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The backward pass uses values saved by the forward pass. An operation that writes into such a tensor (x += y, an
in-place activation, a write through a view or through raw data) makes the gradient one of something else. Most
frameworks notice; writes through raw data or custom kernels go unseen.

## How it shows
Gradients that are silently wrong: a loss that rises or swings at any learning rate, or NaN without an announcement,
while the forward pass is fine.

## What else looks like it
Any other cause of divergence or sudden NaN; this one is rare and comes last.

## References
- Paszke et al. 2019, PyTorch: An Imperative Style, High-Performance Deep Learning Library.
- PyTorch documentation, Autograd mechanics: in-place correctness checks.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  weigh_break(patient, -0.4, 0.4, found);
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts& verdicts) {
  return {advice("Replace in-place operations on the way to the loss by ordinary ones (x = x + y)."),
          advice("Never write through .data or raw pointers into a tensor that takes part in the graph."),
          advice("Check the gradients numerically on a tiny model (gradcheck, in double)."), replay_break(verdicts)};
}

}  // namespace

Cause in_place_modification() {
  return {"in-place-modification",
          "A tensor is overwritten while the graph still needs it",
          kDoc,
          -3.8,
          {{"loss-nonfinite-later", 1.0, 0, "overwritten values can give any gradient"},
           {"loss-nonfinite-at-start", 1.0, 0, "overwritten values can give any gradient"},
           {"loss-diverging", 0.6, 0, "gradients of something else lead elsewhere"},
           {"loss-stuck-from-start", 0.4, 0, "gradients of something else teach nothing"},
           {"overfitting", -2.0, 0, "the gradients lead training well"}},
          "nan-replay",
          "Compare the gradients with numerical ones on one small batch: a difference confirms it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
