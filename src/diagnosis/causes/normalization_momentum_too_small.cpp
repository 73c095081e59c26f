// normalization-momentum-too-small: running statistics follow the batches too slowly.
#include <algorithm>

#include "diagnosis/observe.h"
#include "diagnosis/recorded.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A batch normalisation moves its running mean and variance by a share of each batch, its momentum. With a share of a
thousandth they need thousands of steps to arrive, and the layers below move on meanwhile. Some libraries call
momentum what is kept, others what is added: 0.99 of one is 0.01 of the other.

## How it shows
Running statistics far from those of the batches, from the start and still at the end, nearing them slowly or not at
all, although the model is in training mode. Validation is much worse than training, with nothing wrong in the data.

## What else looks like it
A model that trains in evaluation mode, where nothing is updated; batches of a few samples, whose own statistics jump;
validation data that is prepared otherwise and run in training mode, which draws the statistics away.

## References
- Ioffe and Szegedy 2015, Batch Normalization: moving averages for inference.
- Wu and Johnson 2021, Rethinking "Batch" in BatchNorm: statistics that lag, and computing them anew.
)";

constexpr double kFewest = 5;     // looks that show a course
constexpr double kNearer = 0.7;   // of the early distance: it shrinks, too slowly (chosen)
constexpr double kFarther = 1.5;  // statistics that only lag do not run away (chosen)

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  const std::vector<LayerRecord> layers = activation_records(patient, "drift", kFewest);
  const auto worst = std::max_element(layers.begin(), layers.end(), [](const LayerRecord& a, const LayerRecord& b) {
    return a.record.late < b.record.late;
  });
  if (worst == layers.end()) return {};
  const Recorded& seen = worst->record;
  const std::string course = "the distance in " + worst->layer + " went from " + number(seen.early) + " to " +
                             number(seen.late) + " standard deviations";
  if (seen.late < kNearer * seen.early) return {{0.8, course + ": the statistics follow, but slowly"}};
  if (seen.late > kFarther * seen.early) return {{-0.8, course + ": something draws them away"}};
  return {};
}

std::vector<Remedy> remedies(const Patient&, const Verdicts&) {
  return {advice("Give the running statistics a tenth of each batch: momentum 0.1 in PyTorch, 0.9 in Keras and JAX."),
          advice("Compute them anew before validation: reset them, and average over some hundred training batches."),
          advice("Use GroupNorm or LayerNorm, which need no running statistics.")};
}

}  // namespace

Cause normalization_momentum_too_small() {
  return {
      "normalization-momentum-too-small",
      "The running statistics follow too slowly",
      kDoc,
      -3.3,
      {{"normalization-statistics-drift", 3.2, 0, "statistics that follow slowly stay behind the batches"},
       {"validation-below-chance", 0.3, 0, "evaluation uses statistics that are not those of the data"},
       {"overfitting", 0.1, 0, "evaluation uses statistics that are not those of the data"},
       {"eval-mode-in-training", -2.5, 0.3, "in evaluation mode nothing is updated, whatever the momentum"}},
      "",
      "Evaluate one training batch in both modes; reset the statistics, run a hundred batches, evaluate it again: if "
      "that closes the gap, this is it.",
      clues,
      nullptr,
      remedies};
}

}  // namespace osler::catalogue::cause
