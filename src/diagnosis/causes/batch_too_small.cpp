// batch-too-small: the gradient estimate is mostly noise.
#include "diagnosis/configured.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The gradient of a few samples points in a direction that the next few contradict. Below the gradient noise scale,
halving the batch doubles the noise; near a minimum the steps are noise and nothing else.

## How it shows
A loss that scatters widely about a level it cannot leave, gradient norms that jump, a spread that does not shrink late
in training; BatchNorm with statistics of two samples.

## What else looks like it
A learning rate that is too high (a lower rate shrinks the swings in the same way), wrong labels in part of the data,
data that is not shuffled.

## References
- McCandlish, Kaplan, Amodei 2018, An Empirical Model of Large-Batch Training: the gradient noise scale.
- Smith, Kindermans, Ying, Le 2018, Don't Decay the Learning Rate, Increase the Batch Size.
)";

constexpr double kSmall = 8;
constexpr double kLarge = 512;

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const auto size = batch_size(patient);
  constexpr double kPair = 2;
  if (size && *size <= kPair) found.push_back({1.2, "a step rests on " + number(*size) + " samples"});
  if (const auto samples = samples_per_accuracy(patient); !size && samples && *samples <= kPair) {
    found.push_back({2.0, "the training accuracy is always a multiple of 1/" + std::to_string(*samples) +
                              ": so few samples are in a batch"});
  }
  if (size && *size <= kSmall) found.push_back({1.4, "the batch holds " + number(*size) + " samples"});
  if (size && *size > 32 && *size < 128) found.push_back({-0.8, "the batch holds " + number(*size) + " samples"});
  if (size && *size >= 128) found.push_back({-1.2, "the batch holds " + number(*size) + " samples"});
  const Observation* swings = verdicts.found("loss-oscillating");
  if (swings != nullptr && on_validation(patient, *swings)) {
    found.push_back({-0.8, "validation, which is averaged over the whole set, swings too"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  const auto size = batch_size(patient);
  if (size && *size >= kLarge) return "the configured batch of " + number(*size) + " samples is not small";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  std::vector<Remedy> list;
  if (const auto size = batch_size(patient); size && *size > 0) {
    list.push_back(change("Enlarge the batch: " + number(*size) + " -> " + number(4 * *size) +
                              ", by gradient accumulation where memory is short.",
                          "batch_size", number(*size), number(4 * *size)));
  } else {
    list.push_back(advice("Make the batch four times as large, by gradient accumulation where memory is short."));
  }
  list.push_back(divide_learning_rate(patient, 3));
  list.push_back(advice("Average the weights over the last steps, and use GroupNorm or LayerNorm for BatchNorm."));
  return list;
}

}  // namespace

Cause batch_too_small() {
  return {"batch-too-small",
          "The batch is too small",
          kDoc,
          -2.9,
          {{"gradient-noise-dominates", 1.2, -1.0, "steps are mostly noise"},
           {"loss-oscillating", 1.2, 0, "single batches disagree about the way down"},
           {"late-loss-variance", 1.6, 0, "near the minimum the gradient is mostly noise"},
           {"gradient-norm-oscillating", 1.6, 0, "gradients of few samples vary widely"},
           {"normalization-statistics-drift", 1.2, 0, "the statistics of a few samples are noise"},
           {"loss-plateau", 0.5, 0, "steps that are mostly noise keep the loss above its floor"},
           {"underfitting", 0.4, 0, "steps that are mostly noise keep both losses above their floor"},
           {"loss-spikes", 0.3, 0, "one sample can dominate a small batch"},
           {"reward-oscillating", 1.4, 0, "each update rests on too few episodes"},
           {"reward-collapse", 0.4, 0, "an update that rests on few episodes can go anywhere"},
           {"kl-blow-up", 0.4, 0, "small minibatches make many steps of each batch"},
           {"overfitting", -1.0, 0, "noise works against memorising"},
           {"loss-stuck-from-start", -0.6, 0, "noise does not prevent the first progress"}},
          "gradient-noise-scale",
          "Measure the gradient noise scale: a batch far below it confirms it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
