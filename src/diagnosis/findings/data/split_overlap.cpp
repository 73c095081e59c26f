// split-overlap: validation samples that are in the training set.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Samples of the validation set are also in the training set, to the last byte.

## Signature
The share of validation samples whose hash is among the training samples' is above `share`.

## Why it matters
Validation then measures memory, not learning: it looks better than it is, and overfitting does not show.

## When it is harmless
A handful of true duplicates in a large collection, and tasks in which equal inputs are normal.

## References
- Barz, Denzler 2020, Do We Train on Test Data? Purging CIFAR of Near-Duplicates.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_check(patient,
                     {series_name::kCheckSplitOverlap, settings["share"], 0, Severity::critical, 0.95,
                      "the splits were not compared: see osler::torch::shared_samples and Monitor::split_overlap",
                      "Samples of the validation set are in the training set too."});
}

}  // namespace

Finding split_overlap() {
  return {"split-overlap",
          "Training and validation share samples",
          {Need::batch},
          kDoc,
          {{"share", 0.01, "share of shared samples that may be chance duplicates"}},
          check};
}

}  // namespace osler::catalogue
