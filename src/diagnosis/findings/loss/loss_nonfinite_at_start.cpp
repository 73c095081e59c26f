// loss-nonfinite-at-start: the loss is NaN or infinite within the first steps.
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss is NaN or infinite from the first steps on. Nothing has been learned yet, so the fault lies in the set-up:
the first forward pass, the first gradient, or the first update.

## Signature
A NaN or Inf in a loss series fewer than `first_steps` steps, and fewer than `first_steps` rows, after its start.

## Why it matters
One NaN in a forward pass makes every gradient NaN, and one update later every parameter. No later step can repair
that; each further step is wasted.

## When it is harmless
A logger that writes NaN for a value it does not have yet (a running mean of nothing, a validation loss before the
first evaluation) is not an illness: a single non-finite first value followed by finite ones is reported as a note.

## References
- Micikevicius et al. 2018, Mixed Precision Training: overflow in half precision and loss scaling.
- Goldberg 1991, What Every Computer Scientist Should Know About Floating-Point Arithmetic.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const std::vector<Nonfinite> losses = nonfinite_losses(patient);
  if (losses.empty()) return no_loss_to_check(patient);
  for (const Nonfinite& loss : losses) {
    if (loss.count == 0 || !loss.early(settings["first_steps"])) continue;
    const bool lone_first_value = loss.points_before == 0 && loss.count == 1 && loss.recovered;
    const Severity severity = lone_first_value ? Severity::note : loss.severity();
    Observation seen = observe(severity, loss.confidence(), loss.first_step, loss.last_step,
                               loss.series + " is " + loss.spelling + " from " + at_step(loss.first_step) + " on" +
                                   (loss.recovered ? ", but finite again later." : ": nothing was learned before."));
    seen.qualifiers["recovered"] = loss.recovered ? "yes" : "no";
    seen.evidence.push_back(loss.evidence(settings["first_steps"]));
    return seen;
  }
  return NotFound{};
}

}  // namespace

Finding loss_nonfinite_at_start() {
  return {"loss-nonfinite-at-start",
          "The loss is NaN or infinite in the first steps",
          {Need::curve},
          kDoc,
          {{"first_steps", 10, "how early counts as the start; the seeds' rule of thumb is the first 10 steps"}},
          check};
}

}  // namespace osler::catalogue
