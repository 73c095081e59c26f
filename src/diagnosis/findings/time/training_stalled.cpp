// training-stalled: the log has stopped growing.
#include <algorithm>
#include <cmath>

#include "diagnosis/observe.h"
#include "diagnosis/pace.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The training process is (or was) alive in name only: no new value has been logged for far longer than usual.

## Signature
Live: since the newest value more than `idle` usual distances have passed, more than twice the longest pause so far, and
at least `least_seconds`; the log does not say that training has ended. In a finished log: a pause between two values of
`pause` usual distances and `pause_seconds` or more is a note.

## Why it matters
A deadlock between processes, a data loader that waits for ever, or a full disk costs the machine's whole time and gives
no error.

## When it is harmless
Long evaluations and checkpoints, a job that was suspended, or a run that was resumed on the next day.

## References
- PyTorch documentation, torch.distributed: time-outs of collective operations.
)";

Verdict check_live(const Rhythm& rhythm, double now, const SettingValues& settings) {
  const double idle = now - rhythm.last_time;
  const double limit =
      std::max({settings["idle"] * rhythm.usual_seconds, 2 * rhythm.longest.seconds, settings["least_seconds"]});
  if (idle < limit) return NotFound{};
  Observation seen = observe(Severity::warning, confidence_of(idle / limit), rhythm.last_step, rhythm.last_step,
                             "Nothing has been logged for " + number(idle) + " s since " + at_step(rhythm.last_step) +
                                 "; usually a value comes every " + number(rhythm.usual_seconds) + " s.");
  seen.qualifiers["state"] = "stalled";
  seen.evidence.push_back(evidence(
      rhythm.series, rhythm.last_step, rhythm.last_step, idle, limit,
      "idle for " + number(idle) + " s, the longest pause so far was " + number(rhythm.longest.seconds) + " s"));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto rhythm = rhythm_of(patient);
  if (!rhythm) return NotChecked{"no wall times in the log"};
  const auto& marks = patient.run().marks();
  const bool over = std::any_of(marks.begin(), marks.end(), [](const Mark& mark) {
    return mark.kind == Mark::Kind::finished || mark.kind == Mark::Kind::crashed;
  });
  if (patient.now() && !over) return check_live(*rhythm, *patient.now(), settings);
  const Pause& pause = rhythm->longest;
  if (pause.seconds < std::max(settings["pause"] * rhythm->usual_seconds, settings["pause_seconds"])) {
    if (over) return NotFound{};
    return NotChecked{"whether a log still grows can only be seen while it is watched"};
  }
  Observation seen = observe(Severity::note, 0.7, pause.before, pause.before,
                             "Nothing was logged for " + number(pause.seconds / 60) + " minutes after " +
                                 at_step(pause.before) + "; then training went on.");
  seen.qualifiers["state"] = "paused";
  seen.evidence.push_back(evidence(
      rhythm->series, pause.before, pause.before, pause.seconds, settings["pause"] * rhythm->usual_seconds,
      "a pause of " + number(pause.seconds) + " s, the usual distance is " + number(rhythm->usual_seconds) + " s"));
  return seen;
}

}  // namespace

Finding training_stalled() {
  return {"training-stalled",
          "The log has stopped growing",
          {Need::curve, Need::live},
          kDoc,
          {{"idle", 10, "usual distances without a new value that are too long"},
           {"least_seconds", 60, "seconds below which no pause is a stall"},
           {"pause", 100, "usual distances that make a pause in a finished log worth a word"},
           {"pause_seconds", 1800, "seconds that such a pause must last at least"}},
          check};
}

}  // namespace osler::catalogue
