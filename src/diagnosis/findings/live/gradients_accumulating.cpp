// gradients-accumulating: gradients are never cleared.
#include "diagnosis/recorded.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Each step's gradient contains all the gradients before it: nobody clears them.

## Signature
The monitor projects each gradient on the one before: when the earlier one is wholly contained, the projection is at
least about 1, step after step. Found when the median is above `carried` and at least `share` of the values are, and the
gradient norm has grown to more than `growth` times its first level: large batches and short steps also give one gradient
like the other, but no larger ones.

## Why it matters
The optimizer steps along the sum of all gradients since the start: training behaves like a momentum of 1 and runs away.

## When it is harmless
Accumulating a few batches on purpose before each step: call the monitor once per optimizer step.

## References
- Karpathy 2019, A Recipe for Training Neural Networks.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto carried = recorded(patient, "osler/check/gradients-carried");
  if (!carried || carried->points < settings["fewest"]) {
    return NotChecked{"consecutive gradients were not compared: the monitor in the training process does that"};
  }
  const double share = share_above(patient, *carried, settings["carried"]);
  if (carried->late < settings["carried"] || share < settings["share"]) return NotFound{};
  const Reading* norm = patient.gradient_norm();
  const bool grows =
      norm == nullptr || norm->curve.empty() || norm->nonfinite > 0 || norm->top > settings["growth"] * norm->start;
  if (!grows) return NotFound{};
  Observation seen = observe(Severity::warning, 0.9, carried->first_step, carried->last_step,
                             "Each gradient contains the one before it: gradients are never cleared.");
  seen.evidence.push_back(evidence(carried->series, carried->first_step, carried->last_step, carried->late,
                                   settings["carried"], "median share of the earlier gradient in the later one"));
  return seen;
}

}  // namespace

Finding gradients_accumulating() {
  return {"gradients-accumulating",
          "Gradients are never cleared",
          {Need::layer, Need::live},
          kDoc,
          {{"carried", 0.9,
            "share of the earlier gradient in the later one; independent batches have well below this once training is "
            "under way"},
           {"growth", 3, "times its first level that the gradient norm must have reached; sums of a few gradients do"},
           {"share", 0.9, "share of the comparisons in which it must be so"},
           {"fewest", 5, "comparisons of successive steps needed to judge"}},
          check};
}

}  // namespace osler::catalogue
