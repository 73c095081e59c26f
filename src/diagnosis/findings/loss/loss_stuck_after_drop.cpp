// loss-stuck-after-drop: an early drop, then nothing for a long stretch, far above what the drop promised.
#include <algorithm>
#include <cmath>

#include "diagnosis/flatness.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "signal/forecast.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss fell at first and then stood still for most of the run, at a level well above where its own descent was
heading when it stopped.

## Signature
The training loss is flat for at least the last `flat_share` of the run; before that it fell by at least `drop_noise`
noise units; the power law or exponential that fits the descent promises, at the end of the run, a level lower by
`promise_share` of the drop than what is seen, even at the pessimistic end of its interval; and no single smooth decay
explains the whole curve: its residual is at least `kink` times the noise.

## Why it matters
A descent that stops abruptly was stopped by something: a learning rate that decayed too fast, units that died, a
schedule that restarted wrongly.

## When it is harmless
A descent that bends smoothly into its floor has converged, and the fit says so.

## References
- Hestness et al. 2017, Deep Learning Scaling is Predictable, Empirically.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training();
  if (patient.adversarial() || patient.reinforcement()) return NotChecked{"the run is not judged by a plain loss"};
  if (loss == nullptr) return no_loss_to_check(patient);
  if (loss->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " points"};
  }
  const Flatness flat = flatness_of(*loss, settings["matters"]);
  if (flat.share < settings["flat_share"] || flat.since < 8 || flat.since >= loss->size()) return NotFound{};
  const double drop = loss->start - loss->end;
  if (drop < settings["drop_noise"] * loss->noise.sigma || drop < settings["drop_level"] * loss->level)
    return NotFound{};

  const auto steps = std::span(loss->curve.step).first(flat.since);
  const auto values = std::span(loss->course).first(flat.since);
  const auto forecast = signal::forecast_of(steps, values);
  if (!forecast) return NotFound{};
  const auto smooth = signal::forecast_of(loss->curve.step, loss->course);
  if (smooth && smooth->residual < settings["kink"] * loss->noise.sigma) return NotFound{};
  double promised_now = forecast->at(loss->curve.step.back() - loss->curve.step.front());
  const bool positive = *std::min_element(loss->curve.low.begin(), loss->curve.low.end()) > 0;
  if (positive) {
    // A positive loss cannot go below zero, and one that is almost there has kept its promise.
    promised_now = std::max(promised_now, 0.0);
    if (loss->end < settings["solved"] * loss->start) return NotFound{};
  }
  const double promised = std::max(promised_now, std::min(forecast->floor_high, loss->end));
  const double shortfall = (loss->end - promised) / drop;
  if (shortfall < settings["promise_share"] || loss->end - promised < 4 * loss->noise.sigma) return NotFound{};

  const std::int64_t since = loss->step_at(flat.since);
  Observation seen =
      observe(Severity::warning, confidence_of(shortfall / settings["promise_share"]), since, loss->last_step,
              loss->name + " fell to " + number(loss->end) + " by " + at_step(since) +
                  " and has stood still since; its descent promised " + number(promised) + ".");
  seen.evidence.push_back(evidence(loss->name, since, loss->last_step, loss->end, promised,
                                   "flat for " + per_cent(flat.share) + " of the run, " + per_cent(shortfall) +
                                       " of the drop above what the descent promised"));
  return seen;
}

}  // namespace

Finding loss_stuck_after_drop() {
  return {"loss-stuck-after-drop",
          "The loss fell early and then stood still, far from its promise",
          {Need::curve},
          kDoc,
          {{"fewest_points", 20, "points needed to fit the descent"},
           {"flat_share", 0.4, "last share of the run that must be flat"},
           {"matters", 0.05, "share of the whole gain that counts as movement"},
           {"drop_noise", 6, "noise units the early drop must exceed"},
           {"drop_level", 0.05, "share of the level the early drop must exceed"},
           {"kink", 2.5, "residual of the best smooth decay, in noise units, above which the stop was abrupt"},
           {"solved", 0.05, "share of the first level below which a positive loss counts as solved"},
           {"promise_share", 0.4, "share of the drop by which the descent's promise must be missed"}},
          check};
}

}  // namespace osler::catalogue
