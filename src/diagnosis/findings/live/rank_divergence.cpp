// rank-divergence: data-parallel ranks no longer hold the same weights.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The ranks of a data-parallel training disagree about the weights, or about gradients that were averaged.

## Signature
The relative difference between the largest and smallest weight checksum of the ranks is above `weights`; or that of the
gradient norms is above `gradients` on most comparisons while weights agree.

## Why it matters
Each rank trains a model of its own, and the average of their gradients fits none of them.

## When it is harmless
Sharded training, in which every rank is meant to hold other weights.

## References
- Li et al. 2020, PyTorch Distributed: Experiences on Accelerating Data Parallel Training.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto weights = recorded(patient, series_name::kRanksWeightDifference);
  const auto gradients = recorded(patient, series_name::kRanksGradientDifference);
  if (!weights) return NotChecked{"no ranks were compared: give the monitor a process group"};
  const bool apart = weights->late > settings["weights"];
  const bool unequal = gradients && share_above(patient, *gradients, settings["gradients"]) > 0.5;
  if (!apart && !unequal) return NotFound{};
  const Recorded& told = apart ? *weights : *gradients;
  const double limit = settings[apart ? "weights" : "gradients"];
  Observation seen =
      observe(apart ? Severity::critical : Severity::warning, 0.95, first_above(patient, told, limit), told.last_step,
              apart ? "The ranks hold different weights." : "The ranks step with different gradients.");
  seen.qualifiers["what"] = apart ? "weights" : "gradients";
  seen.evidence.push_back(evidence(told.series, seen.first_step, told.last_step, told.late, limit,
                                   "relative difference " + number(told.late)));
  return seen;
}

}  // namespace

Finding rank_divergence() {
  return {"rank-divergence",
          "Ranks disagree about the weights",
          {Need::live},
          kDoc,
          {{"weights", 1e-6, "relative difference of checksums that rounding may leave"},
           {"gradients", 1e-4, "relative difference of norms that rounding may leave"}},
          check};
}

}  // namespace osler::catalogue
