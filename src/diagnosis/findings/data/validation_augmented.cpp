// validation-augmented: the validation loader returns other data each time.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Loading the same validation sample twice gives different numbers.

## Signature
The share of samples that differ between two loads of the validation set is above `share`.

## Why it matters
Random augmentation or shuffling in the validation pipeline adds noise to every comparison and makes the model look
worse than it is.

## When it is harmless
Test-time augmentation on purpose, averaged over several views.

## References
- Shanmugam et al. 2021, Better Aggregation in Test-Time Augmentation.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_check(
      patient,
      {series_name::kCheckValidationAugmented, settings["share"], 0, Severity::warning, 0.9,
       "validation data was not loaded twice: see osler::torch::changed_samples and Monitor::validation_changes",
       "The validation loader returns other data for the same sample."});
}

}  // namespace

Finding validation_augmented() {
  return {"validation-augmented",
          "Validation data changes between loads",
          {Need::batch},
          kDoc,
          {{"share", 0, "share of samples that may differ: none"}},
          check};
}

}  // namespace osler::catalogue
