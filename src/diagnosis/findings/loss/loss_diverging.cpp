// loss-diverging: the training loss climbs far above its best and stays there.
#include <algorithm>
#include <cmath>
#include <optional>

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
win back (`won_back`) counts from `leap_lost` and `leap_time` on. A rise to `explosion` times the lowest level counts
whatever was gained before. A reward that collapses is judged the same way, but must lose `reward_lost` of
its gain and stay down for the last `reward_stays` of the run. A loss that runs away downwards, to `explosion` times its
first size below zero and faster and faster in each third of the run, has no floor: it diverges as well.

## Why it matters
Each step now moves the weights away from what was learned. Waiting does not help; the best checkpoint lies behind.

## When it is harmless
A curriculum, a change of data, or a longer context raises the loss without harm, as a step after which it falls again,
steadily and by more than `won_back` of the rise. A warm restart of
the learning rate raises it briefly. A contrastive loss climbs while its queue fills. Generator and discriminator losses
rise and fall by design and are not judged. Rewards dip and recover, which is not meant here.

## References
- Goodfellow, Bengio, Courville 2016, Deep Learning, section 8.2.
- Cohen et al. 2021, Gradient Descent on Neural Networks Typically Occurs at the Edge of Stability.
)";

/// The loss was lowest at the very start, climbed, and has come down steadily since: a queue of negatives that fills, a
/// penalty that sets in. Nothing was learned that could have been lost.
bool settles_after_start(const Reading& loss, double early) {
  const std::size_t n = loss.size();
  if (static_cast<double>(loss.best_at) > early * static_cast<double>(n)) return false;
  const auto top = std::max_element(loss.course.begin(), loss.course.end());
  const auto at = static_cast<std::size_t>(top - loss.course.begin());
  if (at > n / 2 || n - at < 8) return false;
  const signal::Trend trend =
      signal::trend_of(std::span(loss.curve.step).subspan(at), std::span(loss.curve.value).subspan(at));
  return trend.falls(0.001) && -trend.change > 0.2 * (*top - loss.best);
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
    if (loss.course[i] - loss.course[i - width] > kLeap * rise) at = i;
  }
  if (at == loss.best_at) return false;
  const std::size_t left = n - at;
  if (left < kFewest) return false;
  const std::size_t from = at + left / 4;
  const auto later = std::span(loss.course).subspan(from);
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
  const auto later = std::span(loss.course).subspan(from);
  const std::size_t part = std::max<std::size_t>(2, later.size() / 4);
  return signal::median(later.first(part)) - signal::median(later.last(part)) < won_back * rise;
}

/// A loss that falls below zero without a bound: each third of the run falls faster than the one before.
std::optional<Observation> bottomless(const Reading& loss, const SettingValues& settings) {
  constexpr double kFaster = 1.2;
  const std::size_t n = loss.size();
  const std::size_t third = n / 3;
  if (third < 4 || loss.negated || !(loss.end < 0)) return {};
  const double first = std::max(std::abs(loss.curve.value.front()), std::abs(loss.start));
  if (-loss.end < settings["explosion"] * first) return {};
  const auto fall = [&](std::size_t from) { return loss.course[from] - loss.course[std::min(from + third, n - 1)]; };
  if (!(fall(0) > 0) || fall(third) < kFaster * fall(0) || fall(2 * third) < kFaster * fall(third)) return {};
  Observation seen = observe(Severity::warning, confidence_of(2), loss.first_step, loss.last_step,
                             loss.name + " falls below zero without a bound, faster and faster: " + number(loss.start) +
                                 " to " + number(loss.end) + ".");
  seen.qualifiers["direction"] = "below zero";
  seen.evidence.push_back(evidence(loss.name, loss.first_step, loss.last_step, loss.end, loss.start,
                                   "a loss that measures errors has a floor: labels outside the range that the loss "
                                   "expects, or a wrong sign, take it away"));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training();
  if (patient.adversarial())
    return NotChecked{"networks play against each other: the level of their losses says little"};
  if (loss == nullptr) return no_loss_to_check(patient);
  const bool reward = patient.reinforcement();
  const std::size_t n = loss->size();
  if (n < settings[reward ? "reward_points" : "fewest_points"]) {
    return NotChecked{"fewer than " + number(settings[reward ? "reward_points" : "fewest_points"]) + " points"};
  }
  if (!reward) {
    if (auto seen = bottomless(*loss, settings)) return std::move(*seen);
  }

  const double rise = loss->end - loss->best;
  const double gained = std::max(loss->improvement(), 0.0);
  // A loss that was exactly zero somewhere is measured from where it began.
  const double lowest = loss->best > 0 ? loss->best : loss->best == 0 ? loss->start : 0;
  const bool exploded = !reward && lowest > 0 && loss->end > settings["explosion"] * lowest && loss->end > loss->start;
  // Without any gain the loss's own level is the scale.
  const double scale = std::max(gained, settings["no_gain_share"] * std::abs(loss->best));
  const double lost = scale > 0 ? rise / scale : 0;
  const auto tail =
      static_cast<std::size_t>(std::max(3.0, settings[reward ? "reward_stays" : "stays"] * static_cast<double>(n)));
  const double lowest_late =
      *std::min_element(loss->course.end() - static_cast<std::ptrdiff_t>(std::min(tail, n)), loss->course.end());
  const bool stays = lowest_late > loss->best + 0.5 * rise || (exploded && lowest_late > std::sqrt(lowest * loss->end));
  // How far back in training the end level was first reached.
  const auto reached =
      std::find_if(loss->course.begin(), loss->course.end(), [&](double level) { return level <= loss->end; });
  const double back =
      loss->best_at == 0 ? 0 : static_cast<double>(reached - loss->course.begin()) / static_cast<double>(loss->best_at);
  const double plain = loss->noise.sigma > 0 ? rise / loss->noise.sigma : (rise > 0 ? 1e9 : 0);
  // Medians of stretches part as surely at fewer standard errors, since only a few stretches are compared.
  const double parted = lost > settings["parted_lost"] ? parted_by(*loss) / settings["parted_errors"] : 0;
  const double units = std::max({plain, units_of_factors(*loss, settings), parted * settings["noise_units"]});
  if (!stays || loss->best_at + tail / 2 >= n) return NotFound{};
  // A leap far beyond noise after which nothing is won back need not undo half of the training.
  const bool leapt = !reward && std::max(plain, parted_by(*loss)) > settings["leap_units"] &&
                     lies_up_there(*loss, rise, settings["won_back"]);
  const double least_lost = settings[reward ? "reward_lost" : leapt ? "leap_lost" : "lost_share"];
  const double latest = settings[leapt ? "leap_time" : "lost_time"];
  // What an episode may bring by luck is no gain; without one, the reward must get worse from beginning to end.
  if (reward && gained < settings["noise_units"] * loss->noise.sigma &&
      !signal::trend_of(loss->curve.step, loss->curve.value).rises(settings["reward_p_value"])) {
    return NotFound{};
  }
  if (!exploded && settles_after_start(*loss, settings["start"])) return NotFound{};
  if (!exploded && !reward && still_comes_down(*loss, rise, settings["won_back"])) return NotFound{};
  if (!exploded && (units < settings["noise_units"] || lost < least_lost || back > latest)) {
    return NotFound{};
  }

  const double margin = exploded ? 10 : std::min(units / settings["noise_units"], 2 * lost / least_lost);
  const bool all_lost = !reward && (exploded || loss->end >= loss->start - 0.3 * gained);
  const std::int64_t since = loss->step_at(loss->best_at);
  Observation seen =
      observe(all_lost ? Severity::critical : Severity::warning, confidence_of(margin), since, loss->last_step,
              loss->name + (reward ? " fell from " : " climbed from ") + number(loss->shown(loss->best)) + " at " +
                  at_step(since) + " to " + number(loss->shown(loss->end)) + " and stayed there.");
  const std::string size = exploded
                               ? "the end is " + times(loss->end / lowest) + " the best level"
                               : "the end lies " + number(units) + " noise units " + (reward ? "below" : "above") +
                                     " the best level and gave back " + per_cent(std::min(lost, 1.0)) + " of the gain";
  seen.evidence.push_back(
      evidence(loss->name, since, loss->last_step, loss->shown(loss->end), loss->shown(loss->best), size));
  return seen;
}

}  // namespace

Finding loss_diverging() {
  return {
      "loss-diverging",
      "The loss climbs far above its best and stays there",
      {Need::curve},
      kDoc,
      {{"fewest_points", 8, "below this a rise cannot be told from noise"},
       {"noise_units", 6, "how many noise levels the end must lie above the best; 6 is beyond chance for any length"},
       {"several", 3, "factor above the best level from which on the noise of a positive loss is taken as factors"},
       {"lost_share", 0.25, "share of the gain that must be lost for it to matter"},
       {"lost_time", 0.5, "the end level must have been reached in this first part of the way to the best point"},
       {"parted_errors", 4, "standard errors between the best and the last eighth of the curve that are as sure"},
       {"parted_lost", 0.5, "share of the gain that must be lost where only such stretches part"},
       {"leap_units", 10,
        "noise levels (or such standard errors) of a leap that is judged by the next three, when it is not won back"},
       {"leap_lost", 0.15, "share of the gain that such a leap must take"},
       {"leap_time", 0.8, "its level must have been reached in this first part of the way to the best point"},
       {"won_back", 0.2, "share of the rise that is won back, slowly, where it does no harm"},
       {"no_gain_share", 0.3, "scale for losses that never fell, as a share of their level"},
       {"stays", 0.08, "last share of the curve that must stay above the middle between best and end"},
       {"start", 0.1,
        "part of the run in which a low loss is no gain when the loss climbs there and falls from then on"},
       {"reward_points", 30, "points of a reward needed to tell a collapse from a dip"},
       {"reward_p_value", 0.001, "significance of the fall of a reward that never rose"},
       {"reward_lost", 0.7, "share of its gain that a reward must lose"},
       {"reward_stays", 0.15, "last share of the run for which a reward must stay down"},
       {"explosion", 100, "factor above the lowest level that always counts (the seeds' early-minimum rule)"}},
      check};
}

}  // namespace osler::catalogue
