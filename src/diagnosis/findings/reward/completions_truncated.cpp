// completions-truncated: no answer of the language model ends by itself.
#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Every generated answer runs into the longest length that is allowed: the model no longer ends its sentences.

## Signature
Over the last third of the run the share of completions that were cut off is `share` or more, and the reward is not
rising.

## Why it matters
An answer that is cut off cannot be graded: the reward is that of a failure, the same for the whole group, and no
gradient is left. It is the usual last stage of a collapse.

## When it is harmless
Where answers are cut short on purpose and the reward counts what was written so far.

## References
- Liu et al. 2025, Understanding R1-Zero-Like Training: length and reward.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto cut = figure(patient, Role::truncated_share, static_cast<std::size_t>(settings["fewest_points"]));
  if (!cut) return NotChecked{"no share of completions that were cut off is logged"};
  const auto progress = reward_progress(patient);
  const double late = late_level(*cut);
  if (late < settings["share"] || (progress && progress->improved())) return NotFound{};
  std::size_t since = cut->size() - 1;
  while (since > 0 && cut->smoothed[since - 1] >= settings["share"]) --since;
  Observation seen = observe(Severity::warning, confidence_of(3), cut->step_at(since), cut->last_step,
                             per_cent(late) + " of the completions are cut off at the longest length since " +
                                 at_step(cut->step_at(since)) + ": no answer ends by itself.");
  seen.evidence.push_back(evidence(cut->name, cut->step_at(since), cut->last_step, late, settings["share"],
                                   "it began at " + per_cent(cut->start)));
  return seen;
}

}  // namespace

Finding completions_truncated() {
  return {.id = "completions-truncated",
          .title = "Every generated answer is cut off at the longest length",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 5, "values below which a level means nothing"},
                       {"share", 0.95, "share of completions that are cut off"}},
          .check = check};
}

}  // namespace osler::catalogue
