// learning-rate-zero: the learning rate is exactly 0 on most steps, and nothing moves.
#include <algorithm>
#include <cmath>

#include "diagnosis/movement.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The optimizer runs with a learning rate of exactly 0: every update is nothing.

## Signature
More than `zero_share` of the logged rates are exactly 0, in every parameter group, and the training loss does not fall
while they are.

## Why it matters
The weights cannot change. It is usually a schedule stepped too often or with the wrong total, a warm-up counted in the
wrong unit, or a value that was read from the configuration as an integer.

## When it is harmless
Logs that print four decimals show 0.0000 for a rate of 3e-5; a loss that falls meanwhile proves that. A single frozen
parameter group, or a schedule that reaches 0 with its last step, is by design.

## References
- Goodfellow, Bengio, Courville 2016, Deep Learning, section 8.3.
)";

struct Zeros {
  const Series* series = nullptr;
  double share = 0;
  double points = 0;
  double first_step = 0;
  double last_step = 0;
};

Zeros zeros_of(const Series& series) {
  const signal::Curve rate = signal::curve_of(series.summary(), SummaryLimits{}.buckets);
  Zeros zeros{&series, 0, rate.points(), 0, 0};
  double zero_points = 0;
  for (std::size_t i = 0; i < rate.size(); ++i) {
    if (rate.low[i] != 0 || rate.high[i] != 0) continue;
    if (zero_points == 0) zeros.first_step = rate.step[i];
    zeros.last_step = rate.step[i];
    zero_points += rate.count[i];
  }
  zeros.share = zeros.points > 0 ? zero_points / zeros.points : 0;
  return zeros;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  Zeros fewest;
  for (const Cast& cast : patient.roles().in(Role::learning_rate)) {
    const Zeros zeros = zeros_of(*cast.series);
    if (zeros.points < settings["fewest_points"]) continue;
    if (fewest.series == nullptr || zeros.share < fewest.share) fewest = zeros;
  }
  if (fewest.series == nullptr) {
    return NotChecked{"no learning rate with at least " + number(settings["fewest_points"]) + " values in the log"};
  }
  if (fewest.share <= settings["zero_share"]) return NotFound{};

  const Reading* loss = patient.training();
  Movement movement;
  if (loss != nullptr && !loss->curve.empty()) {
    movement = movement_of(*loss, loss->index_at(fewest.first_step), loss->index_at(fewest.last_step) + 1);
  }
  const bool judged = movement.points >= settings["fewest_points"];
  if (judged && movement.falls(settings["p_value"], settings["moved_share"] * loss->level)) return NotFound{};

  const auto since = static_cast<std::int64_t>(fewest.first_step);
  const auto until = static_cast<std::int64_t>(fewest.last_step);
  // Without a loss to compare with, the zeros may be a matter of printing.
  Observation seen =
      observe(judged ? Severity::critical : Severity::note, judged ? 0.95 : 0.5, since, until,
              fewest.series->name() + " is exactly 0 on " + per_cent(fewest.share) + " of the logged steps" +
                  (judged ? ", and " + loss->name + " does not improve." : "."));
  seen.evidence.push_back(evidence(fewest.series->name(), since, until, fewest.share, settings["zero_share"],
                                   per_cent(fewest.share) + " of " + number(fewest.points) + " rates are exactly 0"));
  if (judged) {
    seen.evidence.push_back(evidence(
        loss->name, since, until, loss->shown(movement.to), loss->shown(movement.from),
        "went from " + number(loss->shown(movement.from)) + " to " + number(loss->shown(movement.to)) + " meanwhile"));
  }
  return seen;
}

}  // namespace

Finding learning_rate_zero() {
  return {"learning-rate-zero",
          "The learning rate is exactly zero on most steps",
          {Need::curve},
          kDoc,
          {{"fewest_points", 5, "values of the rate, and of the loss meanwhile, needed to judge"},
           {"zero_share", 0.5, "share of the rates that must be 0: most steps"},
           {"p_value", 0.01, "significance of a falling loss, which shows that the zeros are rounded"},
           {"moved_share", 0.01, "fall of the loss, as a share of its level, that counts as moving"}},
          check};
}

}  // namespace osler::catalogue
