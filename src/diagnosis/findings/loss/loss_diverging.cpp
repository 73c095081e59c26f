// loss-diverging: the training loss climbs far above its best and stays there.
#include <algorithm>
#include <cmath>
#include <optional>

#include "diagnosis/accuracies.h"
#include "diagnosis/domain.h"
#include "diagnosis/evidence/latent.h"
#include "diagnosis/evidence/stretches.h"
#include "diagnosis/movement.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "signal/noise.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The training loss went down, or stood still, and then climbed far above its best level and did not come back.

## Signature
The level of the last tenth of the curve lies at least `noise_units` noise units above the best level of the smoothed
curve, has lost at least `lost_share` of what had been gained, and the last `stays` of the curve stays up there. The
end level was last seen in the first `lost_time` of the way to the best point. Where the scatter of
single points is large, the medians of the best and the last eighth of the curve may part by `parted_errors` standard
errors instead, when `parted_lost` of the gain is lost. A leap of `leap_units` that the last third of the run does not
win back (`won_back`) counts from `leap_lost` and `leap_time` on. A positive loss that climbed to `multiple` times its best and to
`not_small` of its start has diverged when that is `way_lost` of its way down in logarithms, and so has one of which no value has come back
into a stretch about its best for as long, `lost_share` above it. A rise to `explosion` times the lowest level counts
whatever was gained before (of networks that play against each other nothing less does), and so does an end `above_start` times above the first level where the loss was that high for
`strays` of the run; the further above, the surer, if it had learned `learned` of that level before. It is critical when
the gain is all but lost, or `most_lost` of it and for `long` of the run.

## Why it matters
Each step now moves the weights away from what was learned. Waiting does not help; the best checkpoint lies behind.

## When it is harmless
A curriculum, a change of data, or a longer context raises the loss without harm, as a step after which it falls again,
steadily and by more than `won_back` of the rise. A warm restart of
the learning rate raises it briefly. A contrastive loss climbs while its queue fills. Generator and discriminator losses
rise and fall by design and are not judged.

## References
- Goodfellow, Bengio, Courville 2016, Deep Learning, section 8.2.
- Cohen et al. 2021, Gradient Descent on Neural Networks Typically Occurs at the Edge of Stability.
)";

/// The loss was lowest at the very start, climbed, and has come down steadily since: a queue of negatives that fills, a
/// penalty that sets in. Nothing was learned that could have been lost.
bool settles_after_start(const Reading& loss, double early) {
  const std::size_t n = loss.size();
  if (static_cast<double>(loss.best_at) > early * static_cast<double>(n)) return false;
  const auto top = std::max_element(loss.smoothed.begin(), loss.smoothed.end());
  const auto at = static_cast<std::size_t>(top - loss.smoothed.begin());
  if (at > n / 2 || n - at < 8) return false;
  const signal::Trend trend =
      signal::trend_of(std::span(loss.curve.step).subspan(at), std::span(loss.curve.value).subspan(at));
  // A descent that bends has fallen further than its median slope says.
  return trend.falls(0.001) && std::max(-trend.change, *top - loss.end) > 0.2 * (*top - loss.best);
}

/// Since its last leap the loss has come down all along and still does, by more than `won_back` of the rise: harder
/// data is learned in its turn. What only settles after a leap does so at once.
bool still_comes_down(const Reading& loss, double rise, double won_back) {
  constexpr std::size_t kFewest = 12;
  constexpr double kSignificance = 0.01;
  constexpr double kLeap = 0.4;  // of the rise, within a fortieth of the curve
  const std::size_t n = loss.size();
  const std::size_t width = std::max<std::size_t>(2, n / 40);
  std::size_t at = loss.best_at;
  for (std::size_t i = loss.best_at + width; i < n; ++i) {
    if (loss.smoothed[i] - loss.smoothed[i - width] > kLeap * rise) at = i;
  }
  if (at == loss.best_at) return false;
  const std::size_t left = n - at;
  if (left < kFewest) return false;
  const std::size_t from = at + left / 4;
  const auto later = std::span(loss.smoothed).subspan(from);
  const std::size_t part = std::max<std::size_t>(2, later.size() / 4);
  const double fall = signal::median(later.first(part)) - signal::median(later.last(part));
  const signal::Trend trend =
      signal::trend_of(std::span(loss.curve.step).subspan(from), std::span(loss.curve.value).subspan(from));
  return fall > won_back / 2 * rise && trend.falls(kSignificance);
}

/// The rise from the best level to the end in units of the noise of factors, for a positive loss that rose several
/// times over: its scatter grows with it, and hides the rise on the plain scale. 0 where this does not apply.
double units_of_factors(const Reading& loss, const SettingValues& settings) {
  constexpr double kSignificance = 0.001;
  if (loss.negated || !(loss.best > 0) || loss.end < settings["several"] * loss.best) return 0;
  if (*std::min_element(loss.curve.value.begin(), loss.curve.value.end()) <= 0) return 0;
  std::vector<double> logarithms(loss.curve.value);
  for (double& value : logarithms) value = std::log(value);
  const signal::Trend trend = signal::trend_of(std::span(loss.curve.step).subspan(loss.best_at),
                                               std::span<const double>(logarithms).subspan(loss.best_at));
  if (!trend.rises(kSignificance)) return 0;
  // The levels are medians of many points, so that fewer noise levels of single ones are as sure.
  return 2 * std::log(loss.end / loss.best) / std::max(signal::noise_of(logarithms).sigma, 1e-12);
}

/// How far the last stretch of the values lies above the best stretch, in standard errors of their medians. Long
/// stretches part clearly where the scatter of single points, which grows as training breaks, hides it.
double errors_between_stretches(std::span<const double> values) {
  constexpr double kMedianError = 1.25;  // of a median, relative to that of a mean
  constexpr std::size_t kFewest = 8;
  constexpr std::size_t kMany = 16;  // fewer values do not tell their own scatter: only their tenths may overlap
  const std::size_t n = values.size();
  const std::size_t width = std::max(kFewest, n / 8);
  if (n < 3 * width) return 0;
  const auto squared_error = [&](std::span<const double> stretch) {
    const double count =
        signal::effective_count(static_cast<double>(width), std::max(0.0, signal::autocorrelation(stretch, 1)));
    return std::pow(kMedianError * signal::mad_scale(stretch), 2) / count;
  };
  std::span<const double> best = values.first(width);
  for (std::size_t first = 0; first + 2 * width <= n; first += std::max<std::size_t>(1, width / 4)) {
    const auto stretch = values.subspan(first, width);
    if (signal::median(stretch) < signal::median(best)) best = stretch;
  }
  const auto last = values.last(width);
  if (width < kMany && signal::quantile(last, 0.1) < signal::quantile(best, 0.9)) return 0;
  const double error = std::sqrt(squared_error(best) + squared_error(last));
  return error > 0 ? (signal::median(last) - signal::median(best)) / error : 0;
}

/// The same on the scale that tells more: of a positive loss also that of factors.
double parted_by(const Reading& loss) {
  const std::vector<double>& values = loss.curve.value;
  const double plain = errors_between_stretches(values);
  if (loss.negated || *std::min_element(values.begin(), values.end()) <= 0) return plain;
  std::vector<double> logarithms(values);
  for (double& value : logarithms) value = std::log(value);
  return std::max(plain, errors_between_stretches(logarithms));
}

/// The loss leapt and lies flat up there: the last third of the run won back less than `won_back` of the rise.
bool lies_up_there(const Reading& loss, double rise, double won_back) {
  const std::size_t from = loss.size() * 2 / 3;
  if (loss.best_at >= from || loss.size() - from < 8) return false;
  const auto later = std::span(loss.smoothed).subspan(from);
  const std::size_t part = std::max<std::size_t>(2, later.size() / 4);
  return signal::median(later.first(part)) - signal::median(later.last(part)) < won_back * rise;
}

/// A validation loss or metric ends near its best, or goes on improving while the loss rises: the objective changes, by
/// a curriculum, a stage or a term that is switched on, not the model for the worse.
bool contradicted(const Patient& patient, double since) {
  constexpr std::size_t kFewest = 5;
  constexpr double kNear = 0.15;  // share of its gain that it may have lost
  constexpr double kMuch = 0.3;   // share of its start that is a gain whatever the scatter of a few evaluations
  constexpr double kTwice = 2;    // times its best: a positive loss that ends higher has not stayed near it
  const auto fine = [&](const Reading& reading) {
    if (reading.size() < kFewest || reading.curve.step.back() < since) return false;
    const double gain = std::max(reading.start, reading.smoothed[reading.index_at(since)]) - reading.best;
    const bool gained = gain > 3 * reading.noise.sigma || gain > kMuch * std::abs(reading.start);
    const bool multiple = !reading.negated && reading.best > 0 && reading.end > kTwice * reading.best;
    return gained && !multiple && reading.end - reading.best < kNear * gain;
  };
  const auto& qualities = patient.validation_quality();
  return (patient.validation() != nullptr && fine(*patient.validation())) ||
         std::any_of(qualities.begin(), qualities.end(), fine);
}

/// The first points of a curve: their level, and how sure it is.
struct Beginning {
  double level = 0;
  double error = 0;
};
Beginning beginning_of(const Reading& loss) {
  constexpr double kMedianError = 1.25;  // of a median, relative to that of a mean
  constexpr std::size_t kShare = 32;     // a thirtieth of the run is its beginning
  constexpr std::size_t kStretch = 16;   // values that tell the scatter there
  const std::size_t fewest = loss.size() < 64 ? 3 : 8;
  const auto values = std::span(loss.curve.value);
  const auto first = values.first(std::min(std::max(fewest, loss.size() / kShare), loss.size()));
  // A handful of values may lie together by luck: the scatter is at least that of the first stretch.
  const auto stretch = values.first(std::min(std::max(kStretch, loss.size() / 4), loss.size()));
  const double scatter = std::max(signal::mad_scale(first), signal::noise_of(stretch).sigma);
  return {signal::median(first), kMedianError * scatter / std::sqrt(static_cast<double>(first.size()))};
}

/// The last quarter lies clearly above the first points.
bool ends_above_start(const Reading& loss, double factor) {
  constexpr double kErrors = 3;
  const Beginning beginning = beginning_of(loss);
  const double begin = std::max(beginning.level, loss.start);
  const Stretches parts = stretches_of(loss);
  if (!(begin > 0) || parts.all.empty()) return false;
  const Stretch end = parts.joined(parts.all.size() - std::max<std::size_t>(1, parts.all.size() / 4));
  const double error = std::hypot(end.error, beginning.error);
  return std::min(end.level, loss.end) > factor * begin && end.level - begin > kErrors * error;
}

/// A classifier's loss was lowest at the very first value and has never come near it again: nothing is raised on
/// purpose there, as a queue that fills raises a contrastive loss.
bool never_as_low_again(const Patient& patient, const Reading& loss, double factor) {
  constexpr std::size_t kEnough = 8;
  if (loss.negated || losses_with_accuracy(patient).empty() || loss.size() < kEnough || !(loss.opening > 0))
    return false;
  const auto later = std::span(loss.curve.low).subspan(1);
  return *std::min_element(later.begin(), later.end()) > factor * loss.opening &&
         loss.end > factor * factor * loss.opening;
}

/// Both losses turned and climb: what validation shows as well is no noise of training, and memorising does not raise
/// the training loss.
bool both_climb(const Patient& patient, const Reading& loss, double lost_share) {
  constexpr double kSignificance = 0.05;  // of each; both together are surer
  constexpr double kAgree = 0.8;          // of the pairs, where they are too few to be significant
  constexpr std::size_t kFewest = 5;      // points on the way up
  constexpr std::size_t kHandful = 8;
  const Reading* validation = patient.validation();
  if (validation == nullptr || loss.negated || validation->negated) return false;
  const auto climbs = [&](const Reading& reading) {
    if (reading.size() - reading.best_at < kFewest) return false;
    const double gain = reading.start - reading.best;
    const signal::Trend trend = signal::trend_of(std::span(reading.curve.step).subspan(reading.best_at),
                                                 std::span(reading.curve.value).subspan(reading.best_at));
    const bool rises =
        trend.rises(kSignificance) || (reading.size() - reading.best_at < kHandful && trend.tau >= kAgree);
    return gain > 0 && reading.end - reading.best > lost_share * gain && rises;
  };
  return climbs(loss) && climbs(*validation);
}

/// Of a positive loss that fell far, what it climbed since counts in factors: it lost much of the way down, as it would
/// be seen on a logarithmic scale, and is no longer small beside its start.
bool climbs_by_factors(const Reading& loss, const SettingValues& settings) {
  constexpr double kSignificance = 0.001;
  constexpr double kAgree = 0.8;      // of the pairs, where points are too few to be significant
  constexpr std::size_t kFewest = 5;  // points on the way up
  if (loss.negated || !(loss.best > 0) || loss.size() - loss.best_at < kFewest) return false;
  if (*std::min_element(loss.curve.value.begin(), loss.curve.value.end()) <= 0) return false;
  const double way = std::log(loss.start / loss.best);
  const double back = std::log(loss.end / loss.best);
  if (loss.end < settings["not_small"] * loss.start || back < std::log(settings["multiple"]) ||
      back < settings["way_lost"] * way)
    return false;
  const signal::Trend trend = signal::trend_of(std::span(loss.curve.step).subspan(loss.best_at),
                                               std::span(loss.curve.value).subspan(loss.best_at));
  return trend.rises(kSignificance) || trend.tau >= kAgree;
}

/// It left a stretch about its best at once, and no value has come back into it since: whatever the scatter, chance
/// does not sort two stretches of this length like that.
bool leaves_for_good(const Reading& loss, double lost_share) {
  constexpr std::size_t kBefore = 5;  // one of 1,287 orders of so many values sorts them
  constexpr std::size_t kAfter = 8;
  const auto values = std::span(loss.curve.value);
  const std::size_t n = values.size();
  if (loss.best_at + kAfter >= n || loss.best_at + 1 < kBefore) return false;
  // The leap lies where the lowest value after it is still above the highest of the stretch before it.
  double lowest = *std::min_element(values.end() - static_cast<std::ptrdiff_t>(kAfter), values.end());
  for (std::size_t at = n - kAfter; at >= kBefore && at > loss.best_at; --at) {
    lowest = std::min(lowest, values[at]);
    const auto before = values.subspan(at - kBefore, kBefore);
    const double highest = *std::max_element(before.begin(), before.end());
    const double gain = loss.start - signal::median(before);
    const double lost = signal::median(values.subspan(at)) - signal::median(before);
    if (lowest > highest && gain > 0 && lost > lost_share * gain) return true;
  }
  return false;
}

/// It ends far above where it began and was there for much of the run: whatever the swings, it does not train.
bool strays_above(const Reading& loss, const SettingValues& settings) {
  constexpr double kErrors = 4;  // first values may lie low by luck
  const double high = settings["above_start"] * loss.start;
  if (loss.negated || !(loss.start > 0) || loss.end < high) return false;
  const Beginning beginning = beginning_of(loss);
  if (loss.end - std::max(loss.start, beginning.level) < kErrors * beginning.error) return false;
  const auto above =
      std::count_if(loss.smoothed.begin(), loss.smoothed.end(), [&](double level) { return level > high; });
  // A loss that is raised for good, as by a queue that fills, does not come back from there.
  const auto up = std::find_if(loss.smoothed.begin(), loss.smoothed.end(), [&](double level) { return level > high; });
  if (std::none_of(up, loss.smoothed.end(), [&](double level) { return level < loss.start; })) return false;
  return static_cast<double>(above) > settings["strays"] * static_cast<double>(loss.size());
}

/// The margin of a plain fact: beyond doubt, but no number of noise levels tells how far.
constexpr double kSure = 2;

/// It had learned: what was lowest at its start may be raised by design and settle.
bool had_learned(const Reading& loss, const SettingValues& settings) {
  constexpr double kErrors = 3;
  constexpr std::size_t kFewest = 32;  // the smoothed curve of fewer points has lucky lows
  const Beginning beginning = beginning_of(loss);
  const double begin = std::max(beginning.level, loss.start);
  const double learned = begin - loss.best;
  return !loss.negated && begin > 0 && loss.size() >= kFewest && learned >= settings["learned"] * begin &&
         learned >= kErrors * beginning.error;
}

/// How surely a loss that had learned and ends above its start has gone for good, as a margin: the surer the further
/// above.
double margin_above(const Reading& loss, const SettingValues& settings) {
  constexpr double kMost = 10;
  const double begin = std::max(beginning_of(loss).level, loss.start);
  return std::clamp(kSure * loss.end / (settings["above_start"] * begin), kSure, kMost);
}

/// More than half of the gain is lost, has been for long, and nothing of it is won back.
bool lost_for_long(const Reading& loss, double rise, double lost, const SettingValues& settings) {
  const std::size_t since = loss.size() - loss.best_at;
  if (lost < settings["most_lost"] || static_cast<double>(since) < settings["long"] * loss.size()) return false;
  const auto later = std::span(loss.smoothed).last(since / 2);
  const std::size_t part = std::max<std::size_t>(2, later.size() / 4);
  if (later.size() < 2 * part) return false;
  return signal::median(later.first(part)) - signal::median(later.last(part)) < settings["won_back"] * rise;
}

/// A handful of epochs suffice where everything shows it: the last losses all lie far above the first two, and so do
/// the errors that are counted beside them.
std::optional<Observation> all_got_worse(const Patient& patient, const Reading& loss, const SettingValues& settings) {
  constexpr std::size_t kFewest = 5;
  constexpr std::size_t kLast = 3;
  if (loss.negated || loss.size() < kFewest || !(loss.curve.value.front() > 0)) return std::nullopt;
  const auto values = std::span(loss.curve.value);
  const double first = std::max(values[0], values[1]);
  const auto last = values.last(kLast);
  if (*std::min_element(last.begin(), last.end()) < settings["above_start"] * first) return std::nullopt;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    const auto answers = std::span(pair.accuracy->curve.value);  // negated
    if (answers.size() < kFewest) continue;
    const double right = pair.share(std::max(answers[0], answers[1]));
    const double lost = right - pair.share(*std::min_element(answers.last(kLast).begin(), answers.last(kLast).end()));
    if (lost < settings["answers_lost"]) continue;
    Observation seen =
        observe(Severity::critical, confidence_of(4), loss.step_at(1), loss.last_step,
                loss.name + " climbed from " + number(first) + " to " + number(values.back()) + ", and " +
                    pair.accuracy->name + " fell from " + number(pair.accuracy->shown(answers.front())) + " to " +
                    number(pair.accuracy->shown(answers.back())) + ".");
    seen.evidence.push_back(evidence(loss.name, loss.first_step, loss.last_step, values.back(), first,
                                     "all of the last " + number(kLast) + " values lie far above the first two"));
    return seen;
  }
  return std::nullopt;
}

/// Networks that play against each other rise and fall by design, but not by factors of hundreds without end: a critic
/// whose slope nothing bounds.
Verdict check_game(const Patient& patient, const SettingValues& settings) {
  constexpr double kSignificance = 0.001;
  bool checked = false;
  for (const Role role : {Role::discriminator_loss, Role::generator_loss}) {
    for (const Cast& cast : patient.roles().in(role)) {
      const Reading loss = read_series(*cast.series, cast.guess.higher_is_better);
      const std::size_t n = loss.size();
      if (n < settings["fewest_points"]) continue;
      checked = true;
      std::vector<double> sizes;
      for (const double value : loss.curve.value) sizes.push_back(std::abs(value));
      const std::size_t fifth = std::max<std::size_t>(2, n / 5);
      const double begin = std::max(1.0, signal::median(std::span(sizes).first(fifth)));
      const double end = signal::median(std::span(sizes).last(fifth));
      const signal::Trend trend = signal::trend_of(loss.curve.step, sizes);
      if (end < settings["explosion"] * begin || !trend.rises(kSignificance)) continue;
      Observation seen = observe(Severity::critical, confidence_of(end / (settings["explosion"] * begin)),
                                 loss.first_step, loss.last_step,
                                 loss.name + " has grown without a bound, from " + number(loss.curve.value.front()) +
                                     " to " + number(loss.curve.value.back()) + ".");
      seen.evidence.push_back(evidence(loss.name, loss.first_step, loss.last_step, end, begin,
                                       "its size is " + times(end / begin) + " what it was"));
      return seen;
    }
  }
  return checked ? Verdict(NotFound{}) : Verdict(NotChecked{"fewer points than a rise needs"});
}

Observation describe(const Reading& loss, Severity severity, double margin) {
  const std::int64_t since = loss.step_at(loss.best_at);
  const std::string about = is_calm(loss) ? "" : "about ";  // a level, which no line of the log may show
  return observe(severity, confidence_of(margin), since, loss.last_step,
                 loss.name + (loss.negated ? " fell from " : " climbed from ") + about + number(loss.shown(loss.best)) +
                     " at " + at_step(since) + " to " + about + number(loss.shown(loss.end)) + " and stayed there.");
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (patient.reinforcement()) return NotChecked{"the run is judged by its reward"};
  if (patient.adversarial()) return check_game(patient, settings);
  const Reading* loss = patient.training();
  if (loss == nullptr) return no_loss_to_check(patient);
  const std::size_t n = loss->size();
  if (n < settings["fewest_points"]) {
    if (auto seen = all_got_worse(patient, *loss, settings)) return std::move(*seen);
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " points"};
  }
  // Neighbouring values are of several losses: only what leaves the range of all of them climbs.
  if (losses_take_turns(patient.run()) && loss->end < settings["beyond_turns"] * loss->start) return NotFound{};

  if (lost_in_scatter(patient)) return NotFound{};

  const double rise = loss->end - loss->best;
  const double gained = std::max(loss->improvement(), 0.0);
  // A loss that was exactly zero somewhere is measured from where it began.
  double lowest = loss->best > 0 ? loss->best : loss->best == 0 ? loss->start : 0;
  // The smoothed curve is hardly smoothed at its very beginning: a lucky first value is no level.
  if (loss->best_at < 3 && lowest > 0) lowest = std::max(lowest, beginning_of(*loss).level);
  const bool exploded = lowest > 0 && loss->end > settings["explosion"] * lowest && loss->end > loss->start;
  // Without any gain the loss's own level is the scale.
  const double scale = std::max(gained, settings["no_gain_share"] * std::abs(loss->best));
  const double lost = scale > 0 ? rise / scale : 0;
  const auto tail = static_cast<std::size_t>(std::max(3.0, settings["stays"] * static_cast<double>(n)));
  const double lowest_late =
      *std::min_element(loss->smoothed.end() - static_cast<std::ptrdiff_t>(std::min(tail, n)), loss->smoothed.end());
  const bool stays = lowest_late > loss->best + 0.5 * rise || (exploded && lowest_late > std::sqrt(lowest * loss->end));
  // How far back in training the end level was first reached.
  const auto reached =
      std::find_if(loss->smoothed.begin(), loss->smoothed.end(), [&](double level) { return level <= loss->end; });
  const double back = loss->best_at == 0
                          ? 0
                          : static_cast<double>(reached - loss->smoothed.begin()) / static_cast<double>(loss->best_at);
  const double plain = loss->noise.sigma > 0 ? rise / loss->noise.sigma : (rise > 0 ? 1e9 : 0);
  // Medians of stretches part as surely at fewer standard errors, since only a few stretches are compared.
  const double parted = lost > settings["parted_lost"] ? parted_by(*loss) / settings["parted_errors"] : 0;
  const double units = std::max({plain, units_of_factors(*loss, settings), parted * settings["noise_units"]});
  // A plain fact, whatever the swings on the way: it ends far above where it began.
  const bool strays = strays_above(*loss, settings);
  const bool above = strays || ends_above_start(*loss, settings["above_start"]) ||
                     never_as_low_again(patient, *loss, settings["above_start"]);
  if (!above && (!stays || loss->best_at + tail / 2 >= n)) return NotFound{};
  if (contradicted(patient, loss->curve.step[loss->best_at]) || (!above && latent_gives_way(patient))) {
    return NotFound{};
  }
  // A leap far beyond noise after which nothing is won back need not undo half of the training.
  const bool leapt =
      std::max(plain, parted_by(*loss)) > settings["leap_units"] && lies_up_there(*loss, rise, settings["won_back"]);
  const double least_lost = settings[leapt ? "leap_lost" : "lost_share"];
  const double latest = settings[leapt ? "leap_time" : "lost_time"];
  const bool recovers =
      settles_after_start(*loss, settings["start"]) || still_comes_down(*loss, rise, settings["won_back"]);
  if (!exploded && !strays && recovers) return NotFound{};
  const bool together =
      both_climb(patient, *loss, settings["lost_share"]) ||
      (!recovers && (climbs_by_factors(*loss, settings) || leaves_for_good(*loss, settings["lost_share"])));
  const bool beyond_noise = units >= settings["noise_units"] && lost >= least_lost && back <= latest;
  if (!exploded && !above && !together && !beyond_noise) return NotFound{};

  const double by_noise = std::min(units / settings["noise_units"], 2 * lost / least_lost);
  double margin = exploded ? 10 : above || together ? kSure : by_noise;
  if (!exploded && had_learned(*loss, settings)) {
    if (above) margin = std::max(margin, margin_above(*loss, settings));
    if (beyond_noise) margin = std::max(margin, by_noise);
  }
  const bool all_lost =
      exploded || loss->end >= loss->start - 0.3 * gained || lost_for_long(*loss, rise, lost, settings);
  Observation seen = describe(*loss, all_lost ? Severity::critical : Severity::warning, margin);
  const std::string size = exploded ? "the end is " + times(loss->end / lowest) + " the best level"
                                    : "the end lies " + number(units) + " noise units " +
                                          (loss->negated ? "below" : "above") + " the best level and gave back " +
                                          per_cent(std::min(lost, 1.0)) + " of the gain";
  seen.evidence.push_back(
      evidence(loss->name, seen.first_step, loss->last_step, loss->shown(loss->end), loss->shown(loss->best), size));
  return seen;
}

}  // namespace

Finding loss_diverging() {
  return {
      "loss-diverging",
      "The loss climbs far above its best and stays there",
      {Need::curve},
      kDoc,
      {{"beyond_turns", 5, "times its start that the loss must reach where several losses take turns (chosen)"},
       {"fewest_points", 8, "below this a rise cannot be told from noise"},
       {"noise_units", 6, "how many noise levels the end must lie above the best; 6 is beyond chance for any length"},
       {"several", 3, "factor above the best level from which on the noise of a positive loss is taken as factors"},
       {"lost_share", 0.25, "share of the gain that must be lost for it to matter"},
       {"answers_lost", 0.1, "share of right answers that must be lost where there are fewer"},
       {"multiple", 4, "times its best to which a loss that fell far must have climbed, whatever its scatter"},
       {"way_lost", 0.4, "share of the way down, in logarithms, that it must have lost by then"},
       {"not_small", 0.05, "share of the first level that it must have come back to"},
       {"lost_time", 0.5, "the end level must have been reached in this first part of the way to the best point"},
       {"parted_errors", 4, "standard errors between the best and the last eighth of the curve that are as sure"},
       {"parted_lost", 0.5, "share of the gain that must be lost where only such stretches part"},
       {"leap_units", 10,
        "noise levels (or such standard errors) of a leap that is judged by the next three, when it is not won back"},
       {"leap_lost", 0.15, "share of the gain that such a leap must take"},
       {"leap_time", 0.8, "its level must have been reached in this first part of the way to the best point"},
       {"won_back", 0.2, "share of the rise that is won back, slowly, where it does no harm"},
       {"above_start", 1.3, "factor above its start at which a loss that ends there has diverged"},
       {"learned", 0.3, "share of the first level that must have been learned for a higher end to be surer"},
       {"most_lost", 0.5, "share of the gain that is critical when it was lost for long"},
       {"long", 0.25, "part of the run for which that must be, from the best level on"},
       {"strays", 0.4, "part of the run that a loss which swings must have spent there"},
       {"no_gain_share", 0.3, "scale for losses that never fell, as a share of their level"},
       {"stays", 0.08, "last share of the curve that must stay above the middle between best and end"},
       {"start", 0.1,
        "part of the run in which a low loss is no gain when the loss climbs there and falls from then on"},
       {"explosion", 100, "factor above the lowest level that always counts (the seeds' early-minimum rule)"}},
      check};
}

}  // namespace osler::catalogue
