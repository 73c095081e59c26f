// bad-batches: single batches of unusual samples throw training off for a moment.
#include "diagnosis/configured.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A batch happens to hold outliers, one source only, very long sequences or repeated text. Its loss is high, its gradient
points elsewhere, and the model needs some steps to come back. The samples are sound, the mixture is not.

## How it shows
Isolated spikes that recover within a few steps, gradient norms that leap with them; more often with small batches.

## What else looks like it
Corrupt samples (NaN or absurd values in them), a learning rate at the limit of stability (spikes grow more frequent),
missing clipping (sound batches do harm as well).

## References
- Chowdhery et al. 2022, PaLM: spikes cured by skipping the batches around them.
- Huber 1964, Robust Estimation of a Location Parameter.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (break_recovered(verdicts)) found.push_back({1.2, "the NaN passed: it came from the batch, not from the weights"});
  if (const auto size = batch_size(patient); size && *size <= 16) {
    found.push_back({0.5, "batches of " + number(*size) + " are easily dominated by one sample"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Remedy> list;
  if (verdicts.found("batch-repeated") != nullptr) {
    list.push_back(switch_to("Draw a new batch at every step: advance the loader's iterator, do not rebuild it.",
                             "fresh_batches", "on"));
  }
  const std::initializer_list<Remedy> usual = {
      clip_gradients(patient), check_batches(verdicts),
      advice("Make the loss robust: Huber in place of MSE, a cap on the loss of a single sample."),
      advice("Shuffle across sources and bucket sequences by length, so that batches resemble each other."),
      advice("Go back to the checkpoint before a bad spike and skip the batches around it.")};
  list.insert(list.end(), usual);
  return list;
}

}  // namespace

Cause bad_batches() {
  return {"bad-batches",
          "Single batches of unusual samples",
          kDoc,
          -1.9,
          {{"overfitting", 0.1, 0, "the same few batches are learned by heart"},
           {"overconfidence", 0.1, 0, "the same few batches are learned by heart"},
           {"batch-repeated", 3.6, 0, "batches were seen to repeat"},
           {"loss-spikes", 3.4, 0, "one expensive batch, then recovery"},
           {"gradient-norm-oscillating", 1.1, 0, "unusual batches have unusual gradients"},
           {"loss-nonfinite-later", 0.4, 0, "an extreme batch can overflow the loss"},
           {"late-loss-variance", 0.2, 0, "late in training hard batches stand out"},
           {"exploding-gradients", 0.1, 0, "an outlier's gradient is large"},
           {"loss-oscillating", 1.4, 0, "batches that differ much make the loss jump"},
           {"epoch-sawtooth", 0.3, 0, "a fixed order brings the same batches at the same place"},
           {"loss-diverging", -1.0, 0, "a single batch does not keep the loss up"}},
          "",
          "Look at the samples of the worst batches: outliers, one source, or extreme lengths confirm it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
