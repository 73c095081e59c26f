// validation-frozen: a validation number repeats to the last digit while training moves.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "diagnosis/evidence/chance.h"
#include "diagnosis/movement.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "signal/noise.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
A validation number is the same, to the last printed digit, in evaluation after evaluation, while the training loss
moves. Weights that change give predictions that change; numbers that do not change come from somewhere else.

## Signature
One value makes up at least `share` of at least `fewest_points` evaluations while the training loss (or the validation
loss beside a frozen accuracy) moved by more than `moved_noise` noise units. A validation loss may also freeze on the
way: its last `late_points` values or more, and `late_share` of all, are one number while the training loss falls on.
`exact_points` suffice where the number has four digits or more and the learning rate is not spent (`spent`).
Where training is not in the log, a validation loss with four digits or more is frozen when all its values are one number.

## Why it matters
Either the evaluation does not look at the model being trained (a stale checkpoint, a cached result, the same batch),
or the model gives one answer to everything: a classifier that always says the majority class has an accuracy that
never changes.

## When it is harmless
A metric at its ceiling (1.0, 100 %) has nowhere to go, nor has an accuracy that climbed to nine in ten or more on a
small set. A metric rounded to two digits repeats by rounding.

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
  constexpr double kAlike = 2e-6;  // relative: sums in single precision differ in their last digits
  std::map<double, Repeat> counts;
  Repeat best;
  for (const Bucket& bucket : series.summary().buckets()) {
    if (bucket.count == 0) continue;
    best.points += bucket.count;
    const double least = bucket.min - kAlike * std::abs(bucket.min);
    const double most = bucket.min + kAlike * std::abs(bucket.min);
    if (bucket.max > most) continue;
    auto entry = counts.lower_bound(least);
    if (entry == counts.end() || entry->first > most) {
      entry = counts.emplace(bucket.min, Repeat{bucket.min, 0, 0, bucket.first_step}).first;
    }
    entry->second.times += bucket.count;
    if (entry->second.times > best.times) {
      best.value = entry->second.value;
      best.times = entry->second.times;
      best.first_step = entry->second.first_step;
    }
  }
  return best;
}

/// The value that a series repeats at its end, without a break.
Repeat last_repeated(const Series& series) {
  Repeat last;
  for (const Bucket& bucket : series.summary().buckets()) {
    if (bucket.count == 0) continue;
    last.points += bucket.count;
    const bool single = bucket.min == bucket.max;
    if (!single || last.times == 0 || bucket.min != last.value) {
      last.value = bucket.min;
      last.first_step = bucket.first_step;
      last.times = 0;
    }
    if (single) last.times += bucket.count;
  }
  return last;
}

bool at_ceiling(double value) {
  constexpr double kAlmost = 0.98;  // of a small validation set, all but one or two samples
  return (value >= kAlmost && value <= 1) || (value >= 100 * kAlmost && value <= 100);
}

/// An accuracy that climbed to a good value and stays there has arrived.
bool arrived(const Series& series, double value) {
  constexpr double kGood = 0.9;
  constexpr double kClimbed = 0.99;  // of the value, below which it began
  const double share = value > 1 ? value / 100 : value;
  for (const Bucket& bucket : series.summary().buckets()) {
    if (bucket.count > 0) return share >= kGood && share <= 1 && bucket.first < kClimbed * value;
  }
  return false;
}

/// Values such as 0.98 or 0.0003 repeat by rounding; 0.4806 does not.
bool rounded(double value) {
  if (value == 0 || std::abs(value) > 1) return false;
  const double unit = std::pow(10, std::min(-2.0, std::floor(std::log10(std::abs(value)))));
  const double units = value / unit;
  return std::abs(units - std::round(units)) < 1e-7;
}

/// Training has come down since `step` by more than the last digit of a rounded validation loss could hide.
bool beyond_rounding(const Reading* training, double step, double value, double roundings) {
  if (training == nullptr || training->negated || std::abs(value) > 1) return false;
  const double unit = std::pow(10, std::min(-2.0, std::floor(std::log10(std::abs(value)))));
  return training->smoothed[training->index_at(step)] - training->end > roundings * unit;
}

/// It got better by more than its noise, and is no worse at the end than in the beginning: where nothing is learned,
/// numbers that stand still are no riddle.
bool moves(const Reading* reading, double noise_units) {
  if (reading == nullptr || reading->size() < 4) return false;
  constexpr double kSome = 0.02;          // share of the level that is worth the name
  constexpr double kSignificance = 0.01;  // of a fall that the noise of single values hides
  const double gain = reading->start - reading->best;
  const bool kept = reading->start - reading->end > noise_units * reading->noise.sigma;
  const bool trend = signal::trend_of(reading->curve.step, reading->curve.value).falls(kSignificance);
  return reading->end < reading->start && gain > kSome * reading->level && (kept || trend) &&
         gain > noise_units * std::max(reading->noise.sigma, 1e-6 * reading->level);
}

/// Training fell on since `step`.
bool falls_since(const Reading* training, double step) {
  constexpr double kSignificance = 0.01;
  if (training == nullptr || training->size() < 8) return false;
  const std::size_t from = training->index_at(step);
  const Movement movement = movement_of(*training, from, training->size());
  return movement.falls(kSignificance, 0.05 * (training->top - training->best));
}

constexpr double kWorthAGradient = 0.02;  // share of its start above which a loss is not solved

/// Training scattered since `step` by more than `share` of its level, at a loss that is worth a gradient.
bool scatters_since(const Reading* training, double step, double share) {
  if (training == nullptr || training->negated || training->size() < 8) return false;
  const std::size_t from = training->index_at(step);
  if (training->size() - from < 4) return false;
  const double noise = signal::difference_noise(std::span(training->curve.value).subspan(from));
  return training->end > kWorthAGradient * training->start && noise > share * std::abs(training->end);
}

/// Four significant digits or more: such values do not repeat by rounding.
bool precise(double value) {
  constexpr double kThousandths = 1e-3;  // of the value
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value)))) * 10 * kThousandths;
  const double units = value / unit;
  return std::abs(units - std::round(units)) > 1e-6;
}

/// The learning rate has gone to almost nothing since `step`: then nothing changes any more, and rightly so.
bool spent_since(const Patient& patient, double step, double spent) {
  const Reading* rate = patient.learning_rate();
  if (rate == nullptr || rate->curve.empty()) return false;
  const double peak = *std::max_element(rate->curve.value.begin(), rate->curve.value.end());
  const double middle = (step + rate->curve.step.back()) / 2;
  return rate->curve.value[rate->index_at(middle)] < spent * peak;
}

/// How many evaluations there were from `step` on while the learning rate still moved the weights.
double evaluations_alive(const Patient& patient, const Series& series, double step, double spent) {
  const Reading* rate = patient.learning_rate();
  double gone = std::numeric_limits<double>::infinity();
  if (rate != nullptr && !rate->curve.empty()) {
    const auto& values = rate->curve.value;
    const double peak = *std::max_element(values.begin(), values.end());
    for (std::size_t i = values.size(); i-- > 0 && values[i] < spent * peak;) gone = rate->curve.step[i];
  }
  double alive = 0;
  for (const Bucket& bucket : series.summary().buckets()) {
    const auto at = static_cast<double>(bucket.first_step);
    if (at >= step && at < gone) alive += static_cast<double>(bucket.count);
  }
  return alive;
}

/// Whether a value makes up so much of the evaluations, or of the newest, that the series is frozen.
std::optional<Repeat> frozen(const Patient& patient, Role role, const Series& series, const SettingValues& settings) {
  const Repeat repeat = most_repeated(series);
  const auto share = [](const Repeat& of) { return static_cast<double>(of.times) / static_cast<double>(of.points); };
  const bool training_moves = moves(patient.training(), settings["moved_noise"]) ||
                              (role != Role::validation_loss && moves(patient.validation(), settings["moved_noise"]));
  // A loss of next to nothing is a task that is solved.
  const auto total = series.summary().total();
  const Reading* training = patient.training();
  // Where nothing is left of the training loss nothing moves the weights any more.
  const bool finished = training != nullptr && !training->negated && training->best >= 0 &&
                        training->smoothed[training->index_at(static_cast<double>(repeat.first_step))] <=
                            settings["solved"] * training->start;
  const bool solved =
      finished || (role == Role::validation_loss && total && std::abs(repeat.value) <= settings["solved"] * total->max);
  const bool harmless = solved || at_ceiling(repeat.value) || rounded(repeat.value) ||
                        (role != Role::validation_loss && arrived(series, repeat.value));
  const bool enough = static_cast<double>(repeat.points) >= settings["fewest_points"];
  const auto first = static_cast<double>(repeat.first_step);
  const bool spent = spent_since(patient, first, settings["spent"]) &&
                     evaluations_alive(patient, series, first, settings["spent"]) < settings["fewest_points"];
  if (enough && share(repeat) >= settings["share"] && !harmless && !spent && training_moves) return repeat;
  // Where training is not in the log, a loss with many digits that is the same in every evaluation speaks for itself.
  const bool alone = training == nullptr && role == Role::validation_loss && repeat.times == repeat.points;
  if (alone && !rounded(repeat.value) && !rounded(100 * repeat.value)) return repeat;
  if (role != Role::validation_loss) return std::nullopt;
  const Repeat last = last_repeated(series);
  const bool late = static_cast<double>(last.times) >= settings["late_points"] && share(last) >= settings["late_share"];
  // A few values suffice where they have many digits and the rate still moves the weights.
  const bool exact = static_cast<double>(last.times) >= settings["exact_points"] && last.value != 0 &&
                     precise(last.value) &&
                     !spent_since(patient, static_cast<double>(last.first_step), settings["spent"]);
  const auto since = static_cast<double>(last.first_step);
  const bool coarse = rounded(last.value) && !beyond_rounding(training, since, last.value, settings["roundings"]);
  if ((!late && !exact) || coarse || last.value == 0) return std::nullopt;
  if (falls_since(patient.training(), since)) return last;
  // Steps along gradients that differ from batch to batch move the weights, whether or not the loss falls.
  const bool many = static_cast<double>(last.times) >= settings["restless_points"] && exact;
  const bool moved = moves(training, settings["moved_noise"]);
  return many && moved && scatters_since(training, since, settings["restless"]) ? std::optional(last) : std::nullopt;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (lost_to_nonfinite(patient)) return NotChecked{"a loss is not a number any more: nothing is left to change"};
  if (guessing(patient) && !training_improves(patient))
    return NotFound{};  // where nothing is learned, numbers that stand still are no riddle
  bool checked = false;
  for (const Role role : {Role::validation_accuracy, Role::validation_metric, Role::validation_loss}) {
    for (const Cast& cast : patient.roles().in(role)) {
      if (cast.guess.component) continue;
      if (static_cast<double>(most_repeated(*cast.series).points) < settings["fewest_alone"]) continue;
      checked = true;
      const std::optional<Repeat> found = frozen(patient, role, *cast.series, settings);
      if (!found) continue;
      const Repeat& repeat = *found;
      const double share = static_cast<double>(repeat.times) / static_cast<double>(repeat.points);
      const double clearly = std::max(0.0, share - settings["share"]) / (1 - settings["share"]);
      const std::string& name = cast.series->name();
      Observation seen = observe(Severity::warning, confidence_of(1 + 4 * clearly), repeat.first_step,
                                 cast.series->summary().last_step(),
                                 name + " is exactly " + number(repeat.value) + " in " + std::to_string(repeat.times) +
                                     " of " + std::to_string(repeat.points) + " evaluations" +
                                     (patient.training() != nullptr ? " while training moves." : "."));
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
           {"fewest_alone", 5, "the same for a loss of many digits that never changed at all"},
           {"solved", 0.02, "share of its highest value below which a repeated loss is that of a task that is solved"},
           {"share", 0.8, "share of the evaluations with one and the same value"},
           {"late_points", 10, "newest values of a loss that must be one number when it froze on the way"},
           {"roundings", 10, "last digits by which training must fall on where the repeated value has but two"},
           {"late_share", 0.4, "share of the evaluations that these must make up"},
           {"exact_points", 4, "the same for values of four digits or more"},
           {"restless_points", 8, "the same where training stands still but its batches still move the weights"},
           {"restless", 0.003, "scatter of the training loss, as a share of it, that shows so"},
           {"spent", 0.02, "share of its peak at which a rate moves nothing any more"},
           {"moved_noise", 3, "noise units by which the loss must have moved meanwhile"}},
          check};
}

}  // namespace osler::catalogue
