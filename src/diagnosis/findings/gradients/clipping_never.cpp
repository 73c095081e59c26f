// clipping-never: the clipping limit lies far above every gradient norm.
#include <cmath>

#include "diagnosis/clipping.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Gradients are clipped at a limit that no gradient ever comes near.

## Signature
The largest norm of the run stays below `near` of the limit.

## Why it matters
It does no harm, but it does not protect either: a gradient ten times larger than any seen would pass unclipped. And it
tells that the norms are small, so there may be room for a higher learning rate.

## When it is harmless
Nearly always; this is only ever a note. When the loss is stuck as well, small norms point to vanishing gradients.

## References
- Pascanu, Mikolov, Bengio 2013, On the difficulty of training recurrent neural networks.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto clipping = clipping_of(patient);
  if (!clipping || std::isnan(clipping->limit)) {
    return NotChecked{"no gradient norm with a known clipping limit in the log"};
  }
  if (clipping->points < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " gradient norms"};
  }
  if (clipping->highest >= settings["near"] * clipping->limit || clipping->share > 0) return NotFound{};
  Observation seen = observe(Severity::note, 0.95, clipping->first_step, clipping->last_step,
                             "Clipping at " + number(clipping->limit) + " never acts: the largest gradient norm is " +
                                 number(clipping->highest) + ".");
  seen.qualifiers["limit"] = number(clipping->limit);
  seen.evidence.push_back(evidence(clipping->norm, clipping->first_step, clipping->last_step, clipping->highest,
                                   settings["near"] * clipping->limit,
                                   "median norm " + number(clipping->median) + ", limit " + number(clipping->limit) +
                                       " (from " + clipping->limit_from + ")"));
  return seen;
}

}  // namespace

Finding clipping_never() {
  return {"clipping-never",
          "The clipping limit is never reached",
          {Need::curve, Need::live},
          kDoc,
          {{"fewest_points", 20, "norms needed to say never"},
           {"near", 0.2, "share of the limit that the largest norm must stay below"}},
          check};
}

}  // namespace osler::catalogue
