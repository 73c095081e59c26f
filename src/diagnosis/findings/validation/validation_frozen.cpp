// validation-frozen: a validation number repeats to the last digit while training moves.
#include <algorithm>
#include <cmath>
#include <map>

#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
A validation number is the same, to the last printed digit, in evaluation after evaluation, while the training loss
moves. Weights that change give predictions that change; numbers that do not change come from somewhere else.

## Signature
One value makes up at least `share` of at least `fewest_points` evaluations while the training loss (or the validation
loss beside a frozen accuracy) moved by more than `moved_noise` noise units.

## Why it matters
Either the evaluation does not look at the model being trained (a stale checkpoint, a cached result, the same batch),
or the model gives one answer to everything: a classifier that always says the majority class has an accuracy that
never changes.

## When it is harmless
A metric at its ceiling (1.0, 100 %) has nowhere to go. A metric rounded to two digits repeats by rounding.

## References
- Karpathy 2019, A Recipe for Training Neural Networks.
)";

struct Repeat {
  double value = 0;
  std::uint64_t times = 0;
  std::uint64_t points = 0;
  std::int64_t first_step = 0;
};

/// The value a series repeats most. Only as far as single values are known: long series are merged into buckets.
Repeat most_repeated(const Series& series) {
  std::map<double, Repeat> counts;
  Repeat best;
  for (const Bucket& bucket : series.summary().buckets()) {
    if (bucket.count == 0) continue;
    best.points += bucket.count;
    if (bucket.min != bucket.max) continue;
    auto [entry, fresh] = counts.try_emplace(bucket.min, Repeat{bucket.min, 0, 0, bucket.first_step});
    entry->second.times += bucket.count;
    if (entry->second.times > best.times) {
      best.value = bucket.min;
      best.times = entry->second.times;
      best.first_step = entry->second.first_step;
    }
  }
  return best;
}

bool at_ceiling(double value) {
  constexpr double kAlmost = 0.98;  // of a small validation set, all but one or two samples
  return (value >= kAlmost && value <= 1) || (value >= 100 * kAlmost && value <= 100);
}

/// Values such as 0.98 repeat by rounding; 0.4806 does not.
bool rounded(double value) {
  const double hundredths = 100 * value;
  return value != 0 && std::abs(value) <= 1 && std::abs(hundredths - std::round(hundredths)) < 1e-9;
}

bool moves(const Reading* reading, double noise_units) {
  if (reading == nullptr || reading->size() < 4) return false;
  return reading->top - reading->best > noise_units * std::max(reading->noise.sigma, 1e-6 * reading->level);
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  bool checked = false;
  for (const Role role : {Role::validation_accuracy, Role::validation_metric, Role::validation_loss}) {
    for (const Cast& cast : patient.roles().in(role)) {
      if (cast.guess.component) continue;
      const Repeat repeat = most_repeated(*cast.series);
      if (static_cast<double>(repeat.points) < settings["fewest_points"]) continue;
      checked = true;
      const bool training_moves =
          moves(patient.training(), settings["moved_noise"]) ||
          (role != Role::validation_loss && moves(patient.validation(), settings["moved_noise"]));
      const double share = static_cast<double>(repeat.times) / static_cast<double>(repeat.points);
      if (share < settings["share"] || at_ceiling(repeat.value) || rounded(repeat.value) || !training_moves) continue;
      const std::string& name = cast.series->name();
      Observation seen =
          observe(Severity::warning, confidence_of(1 + 4 * (share - settings["share"]) / (1 - settings["share"])),
                  repeat.first_step, cast.series->summary().last_step(),
                  name + " is exactly " + number(repeat.value) + " in " + std::to_string(repeat.times) + " of " +
                      std::to_string(repeat.points) + " evaluations while training moves.");
      seen.evidence.push_back(evidence(name, repeat.first_step, seen.last_step, share, settings["share"],
                                       per_cent(share) + " of the values are " + number(repeat.value)));
      return seen;
    }
  }
  if (!checked)
    return NotChecked{"no validation series with at least " + number(settings["fewest_points"]) + " points"};
  return NotFound{};
}

}  // namespace

Finding validation_frozen() {
  return {"validation-frozen",
          "A validation number never changes while training moves",
          {Need::curve},
          kDoc,
          {{"fewest_points", 8, "evaluations needed before a repeated value means anything"},
           {"share", 0.8, "share of the evaluations with one and the same value"},
           {"moved_noise", 3, "noise units by which the loss must have moved meanwhile"}},
          check};
}

}  // namespace osler::catalogue
