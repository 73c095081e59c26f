// straggler-rank: one rank is slower than the others, step after step.
#include <cmath>

#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
One rank of a data-parallel training is persistently slower than the rest.

## Signature
The slowest rank takes more than `ratio` times the median rank's time on most comparisons, and it is the same rank on at
least `same` of them.

## Why it matters
All ranks wait for the slowest on every step: the whole machine runs at its speed.

## When it is harmless
Ranks with other work on purpose, such as the one that writes logs and checkpoints, when it is only a little slower.

## References
- Dean, Barroso 2013, The Tail at Scale.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto ratio = recorded(patient, series_name::kRanksSlowestRatio);
  const auto rank = recorded(patient, series_name::kRanksSlowest);
  if (!ratio || !rank || ratio->points < settings["fewest"]) {
    return NotChecked{"too few comparisons of ranks: give the monitor a process group"};
  }
  const double slow = share_above(patient, *ratio, settings["ratio"]);
  const double usual = std::round(rank->late);
  const double same = share_above(patient, *rank, usual - 0.5) - share_above(patient, *rank, usual + 0.5);
  if (slow <= 0.5 || same < settings["same"]) return NotFound{};
  Observation seen =
      observe(Severity::warning, confidence_of(ratio->late / settings["ratio"]), ratio->first_step, ratio->last_step,
              "Rank " + number(usual) + " takes " + times(ratio->late) + " the time of the others.");
  seen.qualifiers["rank"] = number(usual);
  seen.evidence.push_back(evidence(ratio->series, ratio->first_step, ratio->last_step, ratio->late, settings["ratio"],
                                   "slower on " + per_cent(slow) + " of the comparisons"));
  return seen;
}

}  // namespace

Finding straggler_rank() {
  return {"straggler-rank",
          "One rank holds up the others",
          {Need::live},
          kDoc,
          {{"ratio", 1.3, "times the median rank from which it costs"},
           {"same", 0.6, "share of comparisons in which it is the same rank"},
           {"fewest", 5, "comparisons needed to call it lasting"}},
          check};
}

}  // namespace osler::catalogue
