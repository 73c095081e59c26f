// loss-nonfinite-later: a loss that was finite and moving turns NaN or infinite.
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss was finite and training was under way, then it became NaN or infinite. Something grew until it overflowed, or
one batch hit an operation that has no finite answer.

## Signature
A NaN or Inf in a loss series later than the first `first_steps` steps. Non-finite values up to the end are critical;
a few that recover are a warning, and a single one in a long series is a note. Tables made with pandas and JSON of strict
libraries leave NaN out: where every loss ends and what was logged along with it goes on for `fewest_without` values and
`silent_share` of those of the loss, that is a warning as well, unless something new begins instead.

## Why it matters
After one update with NaN gradients every touched parameter is NaN. Everything the log shows afterwards (accuracy at
chance, frozen metrics) is the echo of this moment, so the step at which it began is what to look at.

## When it is harmless
Mixed-precision training skips a step whose gradients overflow: a NaN gradient norm beside a finite loss is by design.
A single infinite validation loss that recovers (one unlucky sample with a probability of zero) damages no weights.

## References
- Pascanu, Mikolov, Bengio 2013, On the difficulty of training recurrent neural networks: exploding gradients, clipping.
- Micikevicius et al. 2018, Mixed Precision Training.
)";

Observation describe(const FallenSilent& silent) {
  constexpr double kConfidence = 0.7;  // it may have been switched off on purpose
  Observation seen = observe(Severity::warning, kConfidence, silent.last_step, silent.companion_last,
                             silent.series + " has no value after " + at_step(silent.last_step) + ", while " +
                                 silent.companion + " goes on to " + at_step(silent.companion_last) +
                                 ": NaN looks like this where it is written as an empty cell or null.");
  seen.qualifiers["recovered"] = "no";
  seen.evidence.push_back(evidence(silent.series, silent.last_step, silent.companion_last,
                                   static_cast<double>(silent.points_without), 0,
                                   std::to_string(silent.points_without) + " values of " + silent.companion +
                                       " have none of " + silent.series + " beside them"));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const std::vector<Nonfinite> losses = nonfinite_losses(patient);
  if (losses.empty()) return no_loss_to_check(patient);
  for (const Nonfinite& loss : losses) {
    if (loss.count == 0 || loss.early(settings["first_steps"])) continue;
    const bool one_of_many = loss.recovered && loss.count == 1 && static_cast<double>(loss.points) >= settings["long"];
    Observation seen =
        observe(one_of_many ? Severity::note : loss.severity(), loss.confidence(), loss.first_step, loss.last_step,
                loss.series + " turned " + loss.spelling + " at " + at_step(loss.first_step) + ", after " +
                    std::to_string(loss.points_before) + " finite values (last " + number(loss.value_before) + ")" +
                    (loss.recovered ? "; it recovered later." : "; it never recovered."));
    seen.qualifiers["recovered"] = loss.recovered ? "yes" : "no";
    seen.evidence.push_back(loss.evidence(settings["first_steps"]));
    return seen;
  }
  if (const auto silent = fallen_silent(patient, settings["fewest_without"], settings["silent_share"])) {
    return describe(*silent);
  }
  return NotFound{};
}

}  // namespace

Finding loss_nonfinite_later() {
  return {"loss-nonfinite-later",
          "The loss turns NaN or infinite after a finite start",
          {Need::curve},
          kDoc,
          {{"first_steps", 10, "steps that belong to loss-nonfinite-at-start instead"},
           {"fewest_without", 20, "values of another series that go on without the loss"},
           {"silent_share", 0.2, "the same, as a share of the values of the loss"},
           {"long", 10, "points a series must have for a single recovered value to be no more than a note"}},
          check};
}

}  // namespace osler::catalogue
