// input-starved: the step waits for data.
#include <algorithm>

#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
A large part of each step is spent waiting for the next batch.

## Signature
Waiting for data takes more than `share` of the step, waiting and work together, as medians over the last third.

## Why it matters
The processor that should compute is idle: more loader workers, a larger prefetch or a faster format pay at once.

## When it is harmless
Very small models, for which loading always takes longer than computing.

## References
- Mohan et al. 2021, Analyzing and Mitigating Data Stalls in DNN Training.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto wait = recorded(patient, series_name::kTimeData);
  const auto step = recorded(patient, "step_time");
  if (!wait || !step || wait->points < settings["fewest"]) {
    return NotChecked{
        "the waiting for data was not measured: call train_step(), or await_batch() and batch_ready() around the "
        "loading"};
  }
  const double share = step->late > 0 ? wait->late / std::max(step->late, wait->late) : 0;
  if (share <= settings["share"]) return NotFound{};
  Observation seen = observe(Severity::warning, confidence_of(share / settings["share"]), wait->first_step,
                             wait->last_step, per_cent(share) + " of each step is spent waiting for data.");
  seen.evidence.push_back(evidence(wait->series, wait->first_step, wait->last_step, wait->late, settings["share"],
                                   number(wait->late) + " s of " + number(step->late) + " s"));
  return seen;
}

}  // namespace

Finding input_starved() {
  return {"input-starved",
          "Training waits for data",
          {Need::live},
          kDoc,
          {{"share", 0.5, "share of the step from which loading is the bottleneck"},
           {"fewest", 10, "measured steps needed"}},
          check};
}

}  // namespace osler::catalogue
