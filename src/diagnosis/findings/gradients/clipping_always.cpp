// clipping-always: almost every step is clipped.
#include <cmath>

#include "diagnosis/clipping.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The gradient norm exceeds the clipping limit on nearly every step, so every update is scaled down.

## Signature
More than `often` of the norms reach 99 % of the limit: a note. More than `always` of them, `far` times above the limit
in the median where norms are logged before clipping, while the loss does not clearly improve: a warning. The limit is
read from the log or the configuration; norms that nearly all equal their own maximum were logged after clipping. Where
the log counts clipped steps itself (`clip_freq`, `clipped`, `[CLIPPED]` behind a norm), its count is taken.

## Why it matters
Clipping is meant for the rare large gradient. When it is always active the step length no longer follows the gradient:
training crawls, or a rate that is too high is only hidden.

## When it is harmless
With adaptive optimizers the scale of the gradient hardly matters, and detection and language models are trained well
with a limit that is always reached. A loss that falls makes this a note.

## References
- Pascanu, Mikolov, Bengio 2013, On the difficulty of training recurrent neural networks.
- Zhang et al. 2020, Why gradient clipping accelerates training.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto clipping = clipping_of(patient);
  if (!clipping) return NotChecked{"no gradient norm with a known clipping limit in the log"};
  if (clipping->points < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " gradient norms"};
  }
  if (clipping->share < settings["often"]) return NotFound{};
  // Without a limit nobody knows how far the norms lie above it; that every step is clipped is known.
  const bool limited = !std::isnan(clipping->limit);
  const double excess = clipping->median / clipping->limit;
  const bool always = clipping->share > settings["always"] && (clipping->after || !limited || excess > settings["far"]);
  const bool harmful = always && patient.training() != nullptr && !training_improves(patient);
  const bool before = limited && !clipping->after;
  Observation seen = observe(
      harmful ? Severity::warning : Severity::note, confidence_of(clipping->share / settings["often"]),
      clipping->first_step, clipping->last_step,
      "Gradients are clipped" + (limited ? " at " + number(clipping->limit) : "") + " on " + per_cent(clipping->share) +
          " of the steps" + (before ? "; the median norm is " + number(clipping->median) + "." : "."));
  if (limited) seen.qualifiers["limit"] = number(clipping->limit);
  if (limited) seen.qualifiers["norms"] = clipping->after ? "after clipping" : "before clipping";
  const bool counted = !clipping->counted_by.empty();
  seen.evidence.push_back(
      evidence(counted ? clipping->counted_by : clipping->norm, clipping->first_step, clipping->last_step,
               clipping->share, settings["often"],
               counted ? clipping->counted_by + " says that " + per_cent(clipping->share) + " of the steps were clipped"
                       : per_cent(clipping->share) + " of " + number(clipping->points) + " norms reach the limit of " +
                             number(clipping->limit) + " (from " + clipping->limit_from + ")"));
  return seen;
}

}  // namespace

Finding clipping_always() {
  return {"clipping-always",
          "Nearly every step is clipped",
          {Need::curve, Need::live},
          kDoc,
          {{"fewest_points", 20, "norms needed for a share"},
           {"often", 0.5, "share of clipped steps that is worth a word: more steps than not"},
           {"always", 0.8, "share of clipped steps that is too much: clipping is meant for the rare large gradient"},
           {"far", 2, "median norm in limits beyond which clipping shapes every step"}},
          check};
}

}  // namespace osler::catalogue
