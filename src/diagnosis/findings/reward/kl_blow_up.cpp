// kl-blow-up: single updates change the policy by far more than their data support.
#include <algorithm>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The divergence between the policy before and after an update is far above what trust-region methods aim at (0.01 to
0.05): the policy leaps.

## Signature
The median over the last third is above `usual`, or a share of `leaps` of all updates is above `leap`.

## Why it matters
The data of an update describe the old policy. Far from it the estimate of the advantage is wrong, and one such update
can destroy what was learned.

## When it is harmless
A few large values in the first updates, or values around 0.05 with a reward that rises, do no harm.

## References
- Schulman et al. 2015, Trust Region Policy Optimization.
- Schulman et al. 2017, Proximal Policy Optimization Algorithms.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto kl = figure(patient, Role::policy_kl, static_cast<std::size_t>(settings["fewest_points"]));
  if (!kl) {
    return NotChecked{"no KL divergence between policies with at least " + number(settings["fewest_points"]) +
                      " values"};
  }
  const double usual = late_level(*kl);
  const auto& peaks = kl->curve.high;
  const auto leaps = static_cast<double>(
      std::count_if(peaks.begin(), peaks.end(), [&](double value) { return value > settings["leap"]; }));
  const double share = leaps / static_cast<double>(peaks.size());
  const auto clipped = figure(patient, Role::clip_fraction, 3);
  if (usual < settings["usual"] && (share < settings["leaps"] || leaps < 2)) return NotFound{};
  const double highest = *std::max_element(peaks.begin(), peaks.end());
  const auto first = std::find_if(peaks.begin(), peaks.end(), [&](double value) { return value > settings["usual"]; });
  const std::int64_t since = kl->step_at(static_cast<std::size_t>(first - peaks.begin()));
  Observation seen =
      observe(Severity::warning, confidence_of(std::max(usual / settings["usual"], share / settings["leaps"])), since,
              kl->last_step,
              kl->name + " is at " + number(usual) + " over the last third and reaches " + number(highest) +
                  ": updates change the policy far more than the 0.01 to 0.05 they should.");
  seen.evidence.push_back(evidence(kl->name, since, kl->last_step, usual, settings["usual"],
                                   per_cent(share) + " of the updates exceed " + number(settings["leap"])));
  if (clipped) {
    seen.evidence.push_back(evidence(clipped->name, clipped->first_step, clipped->last_step, late_level(*clipped),
                                     settings["clipped"],
                                     "the clipped share of the samples is " + per_cent(late_level(*clipped))));
  }
  return seen;
}

}  // namespace

Finding kl_blow_up() {
  return {.id = "kl-blow-up",
          .title = "Updates change the policy far too much",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_points", 8, "updates below which a level means nothing"},
                       {"usual", 0.08, "median divergence beyond which the data no longer describe the policy"},
                       {"clipped", 0.4, "share of clipped samples that is many"},
                       {"leap", 0.5, "divergence of a single update that leaves the trust region altogether"},
                       {"leaps", 0.03, "share of such updates that is too many"}},
          .check = check};
}

}  // namespace osler::catalogue
