// run-crashed: the log says that the program ended by an error, not by plan.
#include <algorithm>

#include "diagnosis/crash.h"
#include "diagnosis/observe.h"
#include "diagnosis/prognosis.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The training did not end, it was ended: a traceback, memory that ran out, a collective that timed out, a limit of the
scheduler, a machine that was taken away.

## Signature
The log holds the words of such an end, and no values of the training came after it. An error from which the program
went on is not counted. Where values stand behind the only such words, and the log stops short of its planned end, they
were printed before and written later: what goes to a file waits in a buffer, a traceback does not. That is a warning.

## Why it matters
Whatever the curves say, the run is not finished, and the next one will end the same way unless its reason is gone. What
was learned since the last checkpoint is lost.

## When it is harmless
A limit of time or a preemption is part of the plan where training is resumed from a checkpoint; it is then worth knowing
whether the checkpoint is recent.

## References
- Zhang et al. 2022, OPT: Open Pre-trained Transformer Language Models: a logbook of such ends.
)";

Verdict check(const Patient& patient, const SettingValues&) {
  const auto crash = last_crash(patient);
  if (!crash) return NotFound{};
  const bool planned = crash->kind == "time-limit" || crash->kind == "preempted";
  if (crash->overtaken) {
    const std::int64_t last = patient.run().steps().last;
    const std::string end = planned_end(patient)->from;
    Observation seen = observe(Severity::warning, 0.8, last, last,
                               "The log tells of " + crash->in_words() + " and stops at " + at_step(last) +
                                   ", short of " + end + ": the program ended by it.");
    seen.qualifiers["kind"] = crash->kind;
    seen.evidence.push_back(evidence("", crash->step, last, 0, 0, "the log says: " + crash->line));
    seen.evidence.push_back(
        evidence("", crash->step, last, 0, 0, "what was printed before may stand behind it: a file is buffered"));
    return seen;
  }
  Observation seen = observe(
      planned ? Severity::warning : Severity::critical, 0.97, crash->step, crash->step,
      "The program ended by " + crash->in_words() +
          (patient.run().all_series().empty() ? " before its first number." : " at " + at_step(crash->step) + "."));
  seen.qualifiers["kind"] = crash->kind;
  seen.evidence.push_back(evidence("", crash->step, crash->step, 0, 0, "the log says: " + crash->line));
  return seen;
}

}  // namespace

Finding run_crashed() {
  return {.id = "run-crashed",
          .title = "The program ended by an error",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {},
          .check = check};
}

}  // namespace osler::catalogue
