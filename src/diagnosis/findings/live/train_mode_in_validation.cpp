// train-mode-in-validation: validation runs in training mode.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The model is in training mode while it is validated.

## Signature
More than `share` of the validation batches were computed in training mode, in a model with dropout or batch
normalisation.

## Why it matters
Dropout makes validation worse and random, and batch normalisation leaks validation data into its running statistics.

## When it is harmless
Monte-Carlo dropout on purpose.

## References
- Gal, Ghahramani 2016, Dropout as a Bayesian Approximation.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_check(patient,
                     {series_name::kCheckTrainModeInValidation, 0.5, settings["share"], Severity::warning, 0.97,
                      "the monitor in the training process did not look at it: call monitor.validation_batch(output)",
                      "The model was in training mode during validation: dropout is on, and running statistics learn "
                      "from validation data."});
}

}  // namespace

Finding train_mode_in_validation() {
  return {"train-mode-in-validation",
          "The model is in training mode during validation",
          {Need::live},
          kDoc,
          {{"share", 0, "share of validation batches that may run in training mode"}},
          check};
}

}  // namespace osler::catalogue
