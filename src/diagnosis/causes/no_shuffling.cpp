// no-shuffling: the samples come in the same, sorted order every epoch.
#include "diagnosis/configured.h"
#include "diagnosis/observe.h"
#include "diagnosis/recorded.h"
#include "diagnosis/remedy.h"
#include "run/series_names.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Without shuffling, the data comes in the order of the file: class by class, source by source. The model adapts to what
it sees now and forgets what came before; at every epoch's start it has to turn round.

## How it shows
A saw with the period of the epoch in the training loss, sometimes large swings; validation that depends on what the
end of the epoch held.

## What else looks like it
Samples that are being memorised (the loss drops at each epoch's end and stays), a learning rate that restarts every
epoch, a running mean that the logger resets.

## References
- Bottou 2009, Curiously Fast Convergence of Some Stochastic Gradient Descent Algorithms.
- Safran and Shamir 2020, How Good is SGD with Random Shuffling?
)";

std::optional<bool> shuffled(const Patient& patient) {
  return configured_flag(patient, {"shuffle", "shuffle_train", "train_shuffle", "shuffle_data"});
}

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  if (shuffled(patient) == false) found.push_back({1.8, "the configuration switches shuffling off"});
  const auto one_class = recorded(patient, series_name::kBatchConstantLabel);
  const auto overall = recorded(patient, series_name::kBatchClassShareSoFar);
  constexpr double kOften = 0.3;
  constexpr double kVaried = 0.8;
  if (one_class && overall && overall->last < kVaried && share_above(patient, *one_class, 0.5) > kOften) {
    found.push_back({3.0, per_cent(share_above(patient, *one_class, 0.5)) +
                              " of the batches hold one class only, and not always the same: the data is sorted"});
  }
  const auto after = recorded(patient, series_name::kBatchRepeatedAfter);
  const auto again = recorded(patient, series_name::kBatchRepeated);
  constexpr double kInTurn = 4;
  if (after && again && after->late > kInTurn && share_above(patient, *again, 0.5) > kOften) {
    found.push_back({1.2, "the same batches return, each " + number(after->late) + " batches later"});
  }
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts&) {
  if (shuffled(patient) == true) return "the configuration shuffles the data";
  return std::nullopt;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  return {change("Shuffle the training set anew every epoch.", "shuffle", shuffled(patient) == false ? "false" : "",
                 "true"),
          advice("For streams, use a shuffle buffer of many batches, and interleave files and sources."),
          advice("With several workers, give each its own seed and set the epoch on the distributed sampler.")};
}

}  // namespace

Cause no_shuffling() {
  return {"no-shuffling",
          "The training data is not shuffled",
          kDoc,
          -2.7,
          {{"labels-invalid", 0.5, 0, "batches of one class each come from sorted data"},
           {"underfitting", 0.5, 0, "what one stretch teaches the next one undoes"},
           {"loss-stuck-from-start", 0.1, 0, "what one stretch teaches the next one undoes"},
           {"overfitting", 0.3, 0, "the last stretch of each epoch is all that is remembered"},
           {"epoch-sawtooth", 4.7, -0.5, "the loss repeats itself with every epoch"},
           {"loss-oscillating", 2.0, 0, "sorted data pulls the model to and fro"},
           {"loss-spikes", 0.4, 0, "the turn from one class to the next is a leap"},
           {"gradient-norm-oscillating", 0.6, 0, "sorted batches disagree from stretch to stretch"},
           {"late-loss-variance", 0.1, 0, "stretches of one class differ more and more"}},
          "checkup",
          "Print the labels of ten batches in a row: long runs of one class confirm it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
