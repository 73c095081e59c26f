// class-imbalance: one class makes up most of the data.
#include <algorithm>

#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The most frequent class has far more samples than its fair share.

## Signature
The share of the most frequent class in a batch, as the median over the last third, is above `share` and above `factor`
times 1 / classes.

## Why it matters
A model that always answers with that class has a small loss and a good accuracy without having learned anything.

## When it is harmless
Tasks that are like that by nature, judged by a measure that accounts for it, and small batches, in which some class is
always ahead.

## References
- Johnson, Khoshgoftaar 2019, Survey on Deep Learning with Class Imbalance.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  // Of all labels so far, where that was kept: batches of sorted data hold one class each and prove nothing.
  const auto overall = recorded(patient, series_name::kBatchClassShareSoFar);
  const auto largest = overall ? overall : recorded(patient, series_name::kBatchLargestClassShare);
  const auto classes = recorded(patient, series_name::kBatchClasses);
  if (!largest || !classes || classes->late < 2) {
    return NotChecked{"no class labels were shown to the monitor: call monitor.batch(inputs, labels)"};
  }
  const double fair = 1 / classes->late;
  const double limit = std::min(0.95, std::max(settings["share"], settings["factor"] * fair));
  if (largest->late <= limit) return NotFound{};
  Observation seen =
      observe(Severity::warning, confidence_of(largest->late / limit), largest->first_step, largest->last_step,
              per_cent(largest->late) + " of the samples are of one class, of " + number(classes->late) + " classes.");
  seen.evidence.push_back(evidence(largest->series, largest->first_step, largest->last_step, largest->late, limit,
                                   "a fair share would be " + per_cent(fair)));
  return seen;
}

}  // namespace

Finding class_imbalance() {
  return {"class-imbalance",
          "One class makes up most of the data",
          {Need::batch},
          kDoc,
          {{"share", 0.8, "share of one class from which always answering with it looks good"},
           {"factor", 1.5, "times the fair share that is imbalance with two or three classes"}},
          check};
}

}  // namespace osler::catalogue
