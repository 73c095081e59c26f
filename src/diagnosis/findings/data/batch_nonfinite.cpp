// batch-nonfinite: NaN or infinite numbers in the data.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Inputs of some batches are NaN or infinite.

## Signature
More than `share` of the batches that the monitor was shown hold a non-finite number. Where it is only those of the
validation, it is a warning: nothing is learned from them.

## Why it matters
One such number makes the loss, all gradients and, after one step, all weights NaN.

## When it is harmless
Never: missing values must be filled or masked before they reach the network.

## References
- Sculley et al. 2015, Hidden Technical Debt in Machine Learning Systems.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const double share = settings["share"];
  constexpr std::string_view kMissing = "no batches were shown to the monitor: call monitor.batch(inputs, labels)";
  Verdict training = judge_check(patient, {series_name::kBatchNonfiniteShare, 0, share, Severity::critical, 0.99,
                                           kMissing, "Batches hold NaN or infinite inputs."});
  if (std::holds_alternative<Observation>(training)) return training;
  Verdict validation = judge_check(patient, {series_name::kValidationNonfiniteShare, 0, share, Severity::warning, 0.99,
                                             kMissing, "Batches of the validation hold NaN or infinite inputs."});
  return std::holds_alternative<NotChecked>(validation) ? training : validation;
}

}  // namespace

Finding batch_nonfinite() {
  return {"batch-nonfinite",
          "The data holds NaN or infinity",
          {Need::batch},
          kDoc,
          {{"share", 0, "share of batches that may hold non-finite numbers: none"}},
          check};
}

}  // namespace osler::catalogue
