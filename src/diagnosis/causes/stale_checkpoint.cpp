// stale-checkpoint: validation keeps evaluating old weights.
#include <algorithm>

#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "diagnosis/shared_clues.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
A separate evaluation job loads a file that is no longer written, a copy of the model was taken once and never updated,
an averaged model has stopped averaging. Training goes on; what is evaluated is the past.

## How it shows
The validation value repeats to the last digit while the training loss moves, from the start or from the step at which
the copy was taken.

## What else looks like it
A pipeline that reads the same batch (the weights are new, the data is not), one answer for all samples, convergence
(values that still jitter).

## References
- Sculley et al. 2015, Hidden Technical Debt in Machine Learning Systems.
- PyTorch documentation, Saving and loading models: a state_dict holds references, not copies.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  const Observation* frozen = verdicts.found("validation-frozen");
  if (frozen != nullptr && validation_followed(patient)) {
    found.push_back({1.4, "validation moved until " + at_step(frozen->first_step) + " and has repeated itself since"});
  }
  if (const auto same = repeats_itself(patient, verdicts); same && frozen == nullptr) found.push_back({3.0, *same});
  weigh_still_weights(patient, verdicts, found);
  weigh_flat_training(patient, verdicts, found);
  return found;
}

std::optional<std::string> impossible(const Patient& patient, const Verdicts& verdicts) {
  if (only_metric_frozen(patient, verdicts)) {
    return patient.validation()->name + " moves on, so the weights that are evaluated are new";
  }
  const auto tail = validation_tail(patient);
  if (!tail || !tail->all_different || verdicts.found("validation-frozen") != nullptr) return std::nullopt;
  const auto [low, high] = std::minmax_element(tail->values.begin(), tail->values.end());
  return "the last " + std::to_string(tail->values.size()) + " values of " + tail->series + " differ (" + number(*low) +
         " to " + number(*high) + "): the same weights on the same data would repeat";
}

std::vector<Remedy> remedies(const Patient&, const Verdicts& verdicts) {
  std::vector<Remedy> list;
  const Observation* frozen = verdicts.found("validation-frozen");
  list.push_back(advice("Compare a hash of the evaluated weights with one of the weights in training" +
                        (frozen != nullptr ? ", at " + at_step(frozen->last_step) : std::string()) + "."));
  list.push_back(switch_to("Load the newest checkpoint before every evaluation, and log its step beside the result.",
                           "fresh_validation", "on"));
  list.push_back(advice("If a copy or an average of the model is evaluated, check that it is updated every step."));
  return list;
}

}  // namespace

Cause stale_checkpoint() {
  return {"stale-checkpoint",
          "Validation evaluates an old checkpoint",
          kDoc,
          -2.5,
          {{"validation-frozen", 3.3, -0.4, "old weights give the same result every time"},
           {"loss-plateau", 1.9, 0, "old weights do not improve"},
           {"loss-stuck-from-start", -2.5, 0, "training does not move either, so new weights would look the same"},
           {"learning-rate-zero", -1.6, 0, "the weights do not move, so old and new are the same"},
           {"metric-contradicts-loss", -0.5, 0, "old weights would hold loss and metric alike"}},
          "",
          "Evaluate the newest weights by hand: a value that differs from the log confirms it.",
          clues,
          impossible,
          remedies};
}

}  // namespace osler::catalogue::cause
