// batch-too-large: few, noiseless steps that settle in the nearest minimum.
#include "diagnosis/configured.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Beyond the gradient noise scale a larger batch costs more and brings no better step. There are fewer updates per epoch,
and without noise the optimizer settles in the nearest minimum, often a sharp one that generalises worse.

## How it shows
Smooth, slow curves; a larger gap between training and validation than with small batches; sharpness above that of a
small-batch run.

## What else looks like it
A learning rate that was not scaled up with the batch (the same slowness), too little data, a model that is too large.

## References
- Keskar et al. 2017, On Large-Batch Training for Deep Learning: Generalization Gap and Sharp Minima.
- Goyal et al. 2017, Accurate, Large Minibatch SGD.
- Shallue et al. 2019, Measuring the Effects of Data Parallelism on Neural Network Training.
)";

constexpr double kSmall = 64;
constexpr double kLarge = 4096;

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  const auto size = batch_size(patient);
  constexpr double kConsiderable = 1000;
  if (size && *size >= kConsiderable && *size < kLarge) {
    return {{1.0, "the batch holds " + number(*size) + " samples"}};
  }
  if (size && *size >= kLarge) return {{1.4, "the batch holds " + number(*size) + " samples"}};
  return {};
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  const auto size = batch_size(patient);
  if (size && *size <= kSmall) return "the configured batch of " + number(*size) + " samples is not large";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  if (const auto size = batch_size(patient); size && *size > 1) {
    const std::string to = number(*size / 4);
    list.push_back(
        change("Make the batch smaller: " + number(*size) + " -> " + to + ".", "batch_size", number(*size), to));
  } else {
    list.push_back(advice("Make the batch four times smaller and compare after the same number of samples."));
  }
  list.push_back(
      advice("Keep the batch and scale the rate with it (linearly for SGD, by the root for Adam), with "
             "warm-up."));
  list.push_back(advice("Bring noise back: augmentation, dropout, or sharpness-aware minimisation (SAM)."));
  return list;
}

}  // namespace

Cause batch_too_large() {
  return {"batch-too-large",
          "The batch is too large",
          kDoc,
          -3.4,
          {{"underfitting", 0.6, 0, "few updates do not get far"},
           {"sharp-minimum", 2.5, -1.0, "large batches tend to sharp minima"},
           {"loss-too-slow", 0.7, 0, "few updates per epoch make slow progress"},
           {"overfitting", 0.3, 0, "steps without noise settle in sharp minima"},
           {"loss-stuck-after-drop", 0.5, 0, "without noise the nearest minimum holds"},
           {"overconfidence", 0.2, 0, "sharp minima are sure of themselves"},
           {"loss-oscillating", -1.2, 0, "large batches are calm"},
           {"late-loss-variance", -1.5, 0, "large batches are calm"},
           {"gradient-norm-oscillating", -1.5, 0, "gradients of many samples vary little"}},
          "sharpness",
          "Compare the sharpness with that of a run at a quarter of the batch, and measure the gradient noise scale.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
