// loss-oscillating: swings that mini-batch noise does not explain, with no progress meanwhile.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "diagnosis/accuracies.h"
#include "diagnosis/domain.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/evidence/solved.h"
#include "diagnosis/measuring.h"
#include "diagnosis/movement.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "diagnosis/rates.h"
#include "signal/oscillation.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss swings up and down far more than the randomness of batches would make it, and gets nowhere while it does.

## Signature
Over the second half of the curve there is no net descent, and the swings are large against the level and against what
had been gained (`level_share`, `gain_share`). They count when they have structure (a zigzag or a period beyond noise,
p below `p_value`, over at least `cycles` cycles), or when each point is an average over a whole data set (a validation loss, an epoch mean) whose own
sampling noise is far smaller than the swings seen, or when the rate is `rate_times` the highest that works elsewhere. The qualifier says `throughout`, or `late` when a calm descent came
first.

## Why it matters
The optimizer steps across the valley instead of down into it: the step is too long for the curvature.

## When it is harmless
Losses of single small batches are noisy by nature; noise with a steady descent underneath is healthy. Cyclic schedules
and warm restarts move the loss on purpose. Where a monitor in the process saw losses of several tasks take turns, the
training loss is left out.

## References
- LeCun, Bottou, Orr, Mueller 1998, Efficient BackProp: step sizes beyond 2 / lambda_max oscillate.
- Cohen et al. 2021, edge of stability.
)";

struct Swing {
  const Reading* reading = nullptr;
  signal::Oscillation motion;
  double share = 0;  // amplitude over the level
  bool late = false;
  double margin = 0;
};

/// The 10-to-90-percentile range in natural-log units for positive values, as a share of the level otherwise.
double relative_spread(const std::vector<double>& values) {
  const double low = signal::quantile(values, 0.1);
  const double high = signal::quantile(values, 0.9);
  if (low > 0) return std::log(high / low);
  const double level = std::abs(signal::median(values));
  return level > 0 ? (high - low) / level : 0;
}

/// The part of a curve after the share `from` of its points, as it was logged. Where that is many points the end stands
/// for it, since swings of a few steps vanish in merged points.
std::vector<double> later_part(const signal::Curve& curve, double from) {
  constexpr std::size_t kMostPoints = 512;  // the search for periods takes points times frequencies
  const auto later = std::span(curve.value).subspan(static_cast<std::size_t>(from * static_cast<double>(curve.size())));
  const auto end = later.last(std::min(later.size(), kMostPoints));
  return {end.begin(), end.end()};
}

/// A period that stands out over at least `cycles` cycles.
bool periodic(const std::vector<double>& values, const signal::Oscillation& motion, const SettingValues& settings) {
  return motion.period_p_value < settings["p_value"] && motion.period_share > settings["period_share"] &&
         motion.period * settings["cycles"] <= static_cast<double>(values.size());
}

/// A sum or mean that is printed on its way through an epoch rises all along and falls back in one step: that is how it
/// was logged, not how training went.
bool accumulates(const std::vector<double>& values, const SettingValues& settings) {
  std::vector<double> rises;
  std::vector<double> falls;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double change = values[i] - values[i - 1];
    (change > 0 ? rises : falls).push_back(std::abs(change));
  }
  if (rises.empty() || falls.size() < 3) return false;
  const auto total = static_cast<double>(rises.size() + falls.size());
  return static_cast<double>(falls.size()) < settings["resets"] * total &&
         signal::median(falls) > settings["reset_size"] * signal::median(rises);
}

/// The learning rate is so high that scatter is not to be blamed on the batches.
bool beyond_usual_rates(const Patient& patient, double times) {
  const auto peak = highest_rate(patient);
  return peak && *peak > times * highest_usual_rate(patient);
}

/// What the loss has moved over. The first evaluation may come after most of the learning: what training began with is
/// the start of both, where both are on one scale.
double gain_of(const Patient& patient, const Reading& reading) {
  constexpr double kSameScale = 5;
  const double own = std::max(reading.top - reading.best, 0.0);
  const Reading* training = patient.training();
  if (&reading != patient.validation() || training == nullptr || training->negated || reading.negated ||
      !(training->end > 0) || reading.end > kSameScale * training->end || training->end > kSameScale * reading.end) {
    return own;
  }
  return std::max(own, training->start - reading.best);
}

/// Over the second half of the run nearly all answers on validation data were right.
bool answers_nearly_all(const Patient& patient, const SettingValues& settings) {
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (pair.split != "validation" || pair.accuracy->size() < settings["fewest_answers"]) continue;
    const auto late = std::span(pair.accuracy->curve.value).last(pair.accuracy->size() / 2);
    return pair.share(signal::median(late)) > settings["nearly_all"];
  }
  return false;
}

bool swings(const Patient& patient, const Reading& reading, bool averaged, const SettingValues& settings,
            Swing& swing) {
  const std::size_t n = reading.size();
  if (n < settings["fewest_points"]) return false;
  const std::size_t half = n / 2;
  const signal::Curve fine = close_up(patient, reading);
  const std::vector<double> late_values = later_part(fine, 0.5);
  if (accumulates(late_values, settings)) return false;
  swing.reading = &reading;
  swing.motion = signal::oscillation_of(late_values);
  const double gain = gain_of(patient, reading);
  // A loss that may be negative has no level to compare with: half of what it moved over stands for it.
  const bool positive = *std::min_element(reading.curve.low.begin(), reading.curve.low.end()) >= 0;
  const double level = std::max(positive ? std::abs(signal::median(late_values)) : 0.5 * gain, 1e-300);
  swing.share = swing.motion.amplitude / level;

  const signal::Trend trend =
      signal::trend_of(std::span(reading.curve.step).subspan(half), std::span(reading.curve.value).subspan(half));
  const double descent = -trend.change;
  if (descent > settings["progress"] * swing.motion.amplitude && trend.falls(0.05)) return false;
  // A late fall in one go is progress too, though it is no trend.
  const std::size_t third = late_values.size() / 3;
  const double fall =
      signal::median(std::span(late_values).first(third)) - signal::median(std::span(late_values).last(third));
  if (fall > 1.5 * settings["progress"] * swing.motion.amplitude) return false;

  // Where nearly all answers are right by then, what is left of the loss may swing about.
  const double least = settings[answers_nearly_all(patient, settings) ? "gain_share_late" : "gain_share"] * gain;
  const bool large = swing.share > settings["level_share"] && swing.motion.amplitude > least;
  // Zigzag: successive differences alternate more than independent noise would let them.
  constexpr double kChanceErrors = 3;  // standard errors of an autocorrelation
  const double by_chance = kChanceErrors / std::sqrt(static_cast<double>(late_values.size()));
  const bool zigzags = swing.motion.zigzag_z > settings["zigzag_z"] || swing.motion.lag1 < -std::max(0.3, by_chance);
  // A slow period needs more of the run to show its cycles.
  const std::vector<double> longer = later_part(fine, 0.25);
  const bool structured = zigzags || periodic(late_values, swing.motion, settings) ||
                          (large && periodic(longer, signal::oscillation_of(longer), settings));
  const double spread = relative_spread(late_values);
  const bool reckless = beyond_usual_rates(patient, settings["rate_times"]);
  const bool matters = reckless || (averaged && swing.motion.amplitude > least);
  const bool erratic = matters && spread > settings["erratic_spread"];
  swing.margin = erratic ? spread / settings["erratic_spread"] : swing.share / settings["level_share"];
  const std::vector<double> early(reading.curve.value.begin(),
                                  reading.curve.value.begin() + static_cast<std::ptrdiff_t>(half));
  swing.late = signal::oscillation_of(early).amplitude < 0.5 * swing.motion.amplitude;
  return (large && structured) || erratic;
}

/// Validation ends at its best, calmly: what swings in training is the batches, not the model.
bool validation_is_calm(const Patient& patient, const SettingValues& settings) {
  const Reading* validation = patient.validation();
  if (validation == nullptr || validation->negated || validation->size() < settings["fewest_evaluations"]) return false;
  const double gain = validation->improvement();
  return gain > settings["calm_gain"] * std::abs(validation->start) &&
         validation->end - validation->best < settings["calm"] * gain &&
         validation->noise.sigma < settings["calm"] * gain;
}

/// The share of right answers leaps up and down from one evaluation to the next, late in the run: whichever checkpoint
/// is kept, its quality is luck.
std::optional<Observation> answers_swing(const Patient& patient, const SettingValues& settings) {
  const auto& casts = patient.roles().in(Role::validation_accuracy);
  for (const Reading& answers : patient.validation_quality()) {
    const bool accuracy =
        std::any_of(casts.begin(), casts.end(), [&](const Cast& cast) { return cast.series->name() == answers.name; });
    if (!accuracy || answers.size() < settings["fewest_answers"]) continue;
    const double unit = std::abs(answers.best) > 1.5 ? 100 : 1;
    const auto late = std::span(answers.curve.value).subspan(answers.size() / 2);
    std::vector<double> leaps;
    for (std::size_t i = 1; i < late.size(); ++i) leaps.push_back(std::abs(late[i] - late[i - 1]) / unit);
    const auto [best, worst] = std::minmax_element(late.begin(), late.end());
    const double range = (*worst - *best) / unit;
    const double mean = std::accumulate(leaps.begin(), leaps.end(), 0.0) / static_cast<double>(leaps.size());
    if (mean < settings["leap"] || range < settings["range"]) continue;
    const std::int64_t since = answers.step_at(answers.size() / 2);
    Observation seen = observe(Severity::warning, confidence_of(mean / settings["leap"]), since, answers.last_step,
                               answers.name + " leaps between " + number(answers.shown(*worst)) + " and " +
                                   number(answers.shown(*best)) + " from one evaluation to another.");
    seen.qualifiers["extent"] = "late";
    seen.evidence.push_back(evidence(answers.name, since, answers.last_step, mean * unit, settings["leap"] * unit,
                                     "it changes by " + number(mean * unit) + " on average, late in the run"));
    return seen;
  }
  return std::nullopt;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (auto seen = answers_swing(patient, settings)) return std::move(*seen);
  if (patient.objectives().empty()) return no_loss_to_check(patient);
  bool checked = false;
  for (const Reading* reading : patient.objectives()) {
    checked |= reading->size() >= settings["fewest_points"];
    if (reading == patient.training() && losses_take_turns(patient.run())) continue;
    Swing swing;
    const bool averaged = reading == patient.validation() || averages_epochs(patient);
    if (!swings(patient, *reading, averaged, settings, swing)) continue;
    if (reading == patient.training() && (validation_is_calm(patient, settings) || solved(patient))) continue;
    const std::int64_t since = swing.late ? reading->step_at(reading->size() / 2) : reading->first_step;
    Observation seen =
        observe(Severity::warning, confidence_of(swing.margin), since, reading->last_step,
                reading->name + " swings by " + per_cent(std::min(swing.share, 99.0)) + " of its level about " +
                    number(reading->shown(signal::median(reading->curve.value))) +
                    (reading->negated ? " without getting higher." : " without getting lower."));
    seen.qualifiers["extent"] = swing.late ? "late" : "throughout";
    seen.evidence.push_back(evidence(reading->name, since, reading->last_step, swing.motion.amplitude,
                                     settings["level_share"] * reading->level,
                                     "amplitude " + number(swing.motion.amplitude) + ", " +
                                         per_cent(swing.motion.turning_share) + " of the points are turning points"));
    return seen;
  }
  if (!checked) return NotChecked{"no loss with at least " + number(settings["fewest_points"]) + " points"};
  return NotFound{};
}

}  // namespace

Finding loss_oscillating() {
  return {
      "loss-oscillating",
      "The loss swings beyond what batch noise explains",
      {Need::curve},
      kDoc,
      {{"fewest_points", 16, "below this swings cannot be told from noise"},
       {"level_share", 0.15, "amplitude as a share of the level that counts as large"},
       {"gain_share", 0.05, "amplitude as a share of the whole gain that counts as large"},
       {"gain_share_late", 0.15, "the same where nearly all answers are right"},
       {"nearly_all", 0.92, "share of right answers that is nearly all"},
       {"progress", 1, "descent over the second half, in amplitudes, that makes swings harmless"},
       {"zigzag_z", 4, "standard errors by which turning points must exceed those of independent noise"},
       {"p_value", 1e-4, "significance of a period (Fisher's g)"},
       {"period_share", 0.25, "share of the swings that the period must make up; data in a fixed order leaves less"},
       {"cycles", 4, "cycles that a period must show; fewer may be slow wandering"},
       {"fewest_evaluations", 5, "evaluations that can show that validation is calm"},
       {"calm_gain", 0.15, "share of its start that a calm validation has gained"},
       {"calm", 0.1, "share of that gain within which it scatters and ends near its best"},
       {"resets", 0.35, "share of the changes that are falls where a running sum starts over"},
       {"reset_size", 1.5, "usual size of such falls in units of the usual rise"},
       {"fewest_answers", 8, "evaluations of an accuracy after which it should have settled"},
       {"leap", 0.12, "average change of an accuracy between evaluations: the sampling error of 30 answers is 0.09"},
       {"range", 0.3, "range of the late accuracies"},
       {"rate_times", 5, "learning rate, in units of the highest usual one, at which scatter is its work"},
       {"erratic_spread", 1.1,
        "10-to-90-percentile range of an averaged loss, in natural-log units, beyond sampling "
        "noise: a factor of three from one evaluation to another"}},
      check,
      JudgedBy::loss};
}

}  // namespace osler::catalogue
