// scheduler-not-checkpointed: checkpoints without the state of the learning rate schedule.
#include <algorithm>

#include "diagnosis/rates.h"
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Checkpoints are written without the state of the learning rate schedule, although the rate follows one.

## Signature
The newest checkpoint lacks it, and the learning rate has changed by more than `change` (relative) during the run.

## Why it matters
After a resume the schedule starts again: the rate jumps up, and what was learned since is shaken off.

## When it is harmless
Schedules that depend on the step alone, when the step is in the checkpoint.

## References
- Goyal et al. 2017, Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto checkpoint = recorded(patient, series_name::kCheckSchedulerNotCheckpointed);
  if (!checkpoint) return NotChecked{"the monitor was not told of a checkpoint: call monitor.checkpoint(...)"};
  const auto rate = main_rate(patient);
  if (!rate) return NotChecked{"no learning rate was recorded"};
  const double lowest = *std::min_element(rate->curve.low.begin(), rate->curve.low.end());
  if (checkpoint->last < 0.5 || rate->peak - lowest <= settings["change"] * rate->peak) return NotFound{};
  Observation seen = observe(Severity::warning, 0.9, checkpoint->first_step, checkpoint->last_step,
                             "Checkpoints do not hold the state of the learning rate schedule.");
  seen.evidence.push_back(evidence(checkpoint->series, checkpoint->first_step, checkpoint->last_step, 1, 0,
                                   "the rate went from " + number(rate->peak) + " to " + number(lowest)));
  return seen;
}

}  // namespace

Finding scheduler_not_checkpointed() {
  return {"scheduler-not-checkpointed",
          "Checkpoints lack the schedule",
          {Need::live},
          kDoc,
          {{"change", 0.01, "relative change of the rate from which there is a schedule to lose"}},
          check};
}

}  // namespace osler::catalogue
