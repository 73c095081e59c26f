// eval-mode-in-training: the model trains in evaluation mode.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The model is in evaluation mode during training steps.

## Signature
More than `share` of the looks at the mode during training found evaluation mode, in a model with dropout or batch
normalisation.

## Why it matters
Dropout does nothing and running statistics are never updated; it is usually left over from a validation without
model.train() after it.

## When it is harmless
Fine-tuning with frozen normalisation on purpose.

## References
- Ioffe, Szegedy 2015, Batch Normalization.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_check(patient, {series_name::kCheckEvalModeInTraining, 0.5, settings["share"], Severity::warning, 0.97,
                               "the monitor in the training process did not look at it",
                               "The model was in evaluation mode during training steps: dropout is off and "
                               "normalisation uses stored statistics."});
}

}  // namespace

Finding eval_mode_in_training() {
  return {"eval-mode-in-training",
          "The model is in evaluation mode while it trains",
          {Need::live},
          kDoc,
          {{"share", 0.02, "share of looks that may find it"}},
          check};
}

}  // namespace osler::catalogue
