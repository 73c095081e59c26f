// loss-stuck-from-start: the objective has not moved since the first step.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "diagnosis/accuracies.h"
#include "diagnosis/movement.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Training runs, but the loss stays where it began. For a classifier that is often ln(C), the loss of guessing uniformly
among C classes: 0.693 for 2, 1.386 for 4, 2.303 for 10, 6.908 for 1000.

## Signature
From the start to the best smoothed level the loss gained less than `gain_share` of its level; or it shows no
significant trend (Mann-Kendall, p above `p_value`) and gained less than one noise unit. A classifier near ln(C), or an
accuracy that stays at chance, makes it certain: accuracy near 1/C and a loss near ln(C) for the same C (within
`guess_tolerance`) are guessing whatever the noise. A reward, which has no natural zero, is stuck when it changed by less
than `reward_gain_share` of its scale: its level, or `reward_scatter` times the scatter from episode to episode. Where
noise would hide a gain of `fair_gain` it is a note.

## Why it matters
Nothing is learned, so more time will not help: the signal does not reach the weights, the steps are too small to see,
or the labels hold no information about the inputs.

## When it is harmless
A run resumed from a converged checkpoint is flat from its first logged step; so is the first part of a long warm-up.
Some tasks stay at ln(C) for a while and then escape. A high accuracy or a metric that improves rules this finding out.

## References
- Glorot and Bengio 2010, Understanding the difficulty of training deep feedforward neural networks.
- Shalev-Shwartz et al. 2017, Failures of Gradient-Based Deep Learning.
)";

struct Stillness {
  bool stuck = false;
  double gain = 0;        // share of the level gained at best
  double margin = 1;      // how clearly
  bool blurred = false;   // noise would hide a fair gain
  bool doubtful = false;  // it gained something, though no more than noise explains
};

/// The scatter of single logged values: that of the points, and what their merging hides.
double single_scatter(const Reading& reading) {
  return std::sqrt(reading.noise.sigma * reading.noise.sigma + signal::median(reading.curve.variance));
}

/// A reward has no natural zero: it is stuck when what it gained is little against its level and against what one
/// episode differs from the next.
Stillness reward_stillness(const Reading& reading, const SettingValues& settings) {
  Stillness still;
  const std::size_t third = std::max<std::size_t>(1, reading.size() / 3);
  const auto mean = [](std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const auto values = std::span(reading.curve.value);
  // Means, since a rare reward does not show in medians; but one episode gone wild must not outweigh all others.
  constexpr double kTails = 0.01;
  constexpr double kWild = 3;  // spreads beyond the tails
  const double low = signal::quantile(values, kTails);
  const double high = signal::quantile(values, 1 - kTails);
  std::vector<double> tame(values.begin(), values.end());
  if (high > low) {
    for (double& value : tame) value = std::clamp(value, low - kWild * (high - low), high + kWild * (high - low));
  }
  const double change = mean(std::span(tame).first(third)) - mean(std::span(tame).last(third));
  const double swing = reading.top - reading.best;
  const double scatter = single_scatter(reading);
  const double scale = std::max(reading.level, settings["reward_scatter"] * scatter);
  still.gain = scale > 0 ? change / scale : 0;
  const signal::Trend trend = signal::trend_of(reading.curve.step, values);
  const bool wanders = swing > settings["reward_scatter"] * scatter && swing > settings["climb_share"] * reading.level;
  const bool insignificant = trend.p_value > settings["reward_p_value"];
  still.stuck = !wanders && std::abs(still.gain) < settings["reward_gain_share"] &&
                (insignificant || std::abs(still.gain) < settings["gain_share"]);
  still.margin = settings["reward_gain_share"] / std::max(std::abs(still.gain), 0.1 * settings["reward_gain_share"]);
  return still;
}

/// A positive loss that surely rises or falls by a good factor moves, though its scatter may be larger still.
bool moves_by_factors(const Reading& reading, const SettingValues& settings) {
  constexpr double kSignificance = 0.001;
  if (*std::min_element(reading.curve.value.begin(), reading.curve.value.end()) <= 0) return false;
  std::vector<double> logarithms(reading.curve.value);
  for (double& value : logarithms) value = std::log(value);
  const signal::Trend trend = signal::trend_of(reading.curve.step, logarithms);
  return trend.p_value < kSignificance && std::abs(trend.change) > settings["factor"];
}

Stillness stillness_of(const Reading& reading, const SettingValues& settings) {
  if (reading.negated) return reward_stillness(reading, settings);
  Stillness still;
  // Two smoothed levels from the ends: the best of hundreds of noisy points would always look like progress.
  const std::size_t n = reading.size();
  const std::size_t third = std::max<std::size_t>(1, n / 3);
  const double early = signal::median(std::span(reading.curve.value).first(std::max<std::size_t>(1, n / 10)));
  const double late = signal::median(std::span(reading.curve.value).last(third));
  const double lowest = signal::quantile(reading.course, 0.05);
  const double change = early - std::min(late, lowest);
  still.gain = reading.level > 0 ? change / reading.level : 0;
  const signal::Trend trend = signal::trend_of(reading.curve.step, reading.curve.value);
  const double scatter = std::max(reading.noise.sigma, 1e-12 * reading.level);
  const bool small = still.gain < settings["gain_share"];
  // A loss that climbs moves, if the wrong way; what noise explains is left to nobody else.
  if (late - early > std::max(settings["climb_share"] * reading.level, settings["climb_units"] * scatter)) return still;
  if (moves_by_factors(reading, settings)) return still;
  // Up at first and down again since is movement too, wherever it ends.
  if (reading.top - late > std::max(settings["climb_share"] * reading.level, 6 * scatter)) return still;
  // A quick drop in the first points is progress, however flat the rest.
  if (reading.start - early > 3 * scatter && reading.start - early > settings["gain_share"] * reading.level)
    return still;
  // The best of a wandering curve is no progress while it lies within its own wandering.
  const double wander = std::max(scatter, signal::mad_scale(reading.curve.value));
  const bool within = early - lowest < settings["wander_units"] * wander &&
                      reading.start - late < std::max(settings["noisy_gain_share"] * reading.level, 1.5 * scatter);
  // Two standard errors of the levels compared: what noise explains is no gain. Where that is more than a fair gain, no
  // progress is seen, but none is ruled out either.
  const double head = static_cast<double>(std::max<std::size_t>(1, n / 10));
  const double blur = 2 * 1.25 * scatter * std::sqrt(1 / head + 1 / static_cast<double>(third));
  const double noisy_gain = settings["noisy_gain_share"] * reading.level;
  const bool aimless = !trend.falls(settings["p_value"]) && early - late < settings["noise_units"] * scatter &&
                       within && early - late < std::max(noisy_gain, blur);
  still.stuck = small || aimless;
  still.blurred = !small && blur > settings["fair_gain"] * reading.level;
  still.doubtful = !small && early - late > noisy_gain;
  still.margin = small ? settings["gain_share"] / std::max(still.gain, 0.1 * settings["gain_share"]) : 1.2;
  return still;
}

/// Accuracy and loss agree on guessing: the accuracy of the last third is 1/C, and the loss is ln(C) for that very C.
bool only_guesses(const Patient& patient, const SettingValues& settings) {
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    const auto last_third = [](const Reading& reading) {
      return signal::median(std::span(reading.curve.value).last(std::max<std::size_t>(1, reading.size() / 3)));
    };
    const auto& hits = pair.accuracy->curve.value;
    const auto half = std::span(hits).last(std::max<std::size_t>(1, hits.size() / 2));
    const double accuracy =
        pair.share(std::accumulate(half.begin(), half.end(), 0.0) / static_cast<double>(half.size()));
    if (!(accuracy > 0) || accuracy > 0.6) return false;
    const double classes = std::round(1 / accuracy);
    const bool at_chance = std::abs(accuracy * classes - 1) < settings["guess_tolerance"];
    const double loss = last_third(*pair.loss) / std::log(classes);
    if (!at_chance || std::abs(loss - 1) > settings["guess_tolerance"]) return false;
    // What came down to chance was wrong before it: that is initial-loss-wrong.
    if (pair.loss->start / std::log(classes) > 1 + 2 * settings["guess_tolerance"]) return false;
    // What was far better than guessing before it came back to it has moved: that is loss-diverging.
    if (pair.loss->best / std::log(classes) < 1 - 2 * settings["guess_tolerance"]) return false;
  }
  return !losses_with_accuracy(patient).empty();
}

/// An accuracy or metric that moved shows that something is learned after all.
bool something_learned(const Patient& patient, int classes, const SettingValues& settings) {
  const auto improved = [&](const Reading& reading) {
    const double scale = std::max(std::abs(reading.start), std::abs(reading.best));
    const signal::Trend trend = signal::trend_of(reading.curve.step, reading.curve.value);
    return reading.size() >= 5 && reading.improvement() > settings["metric_gain"] * scale &&
           reading.improvement() > 4 * reading.noise.sigma && trend.falls(0.05);
  };
  const auto accuracy = patient.best_accuracy();
  if (accuracy && *accuracy > settings["good_accuracy"]) return true;
  // At chance level the accuracy of the first epoch may lie below chance; rising up to it is no learning.
  if (accuracy && classes > 0 && *accuracy < 1.0 / classes + settings["above_chance"]) return false;
  return std::any_of(patient.validation_quality().begin(), patient.validation_quality().end(), improved) ||
         std::any_of(patient.training_quality().begin(), patient.training_quality().end(), improved);
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (patient.adversarial())
    return NotChecked{"networks play against each other: the level of their losses says little"};
  std::vector<const Reading*> objectives = patient.objectives();
  std::erase_if(objectives, [&](const Reading* r) {
    return r->size() < settings["fewest_points"] || (r->top == 0 && r->best == 0 && !patient.reinforcement());
  });
  if (objectives.empty()) {
    return NotChecked{"no loss other than zero, and no reward, with at least " + number(settings["fewest_points"]) +
                      " points"};
  }
  double margin = 10;
  bool blurred = true;
  bool doubtful = false;
  const bool guesses = !patient.reinforcement() && only_guesses(patient, settings) && !training_improves(patient);
  for (const Reading* reading : objectives) {
    const Stillness still = stillness_of(*reading, settings);
    if (!still.stuck && !guesses) return NotFound{};
    margin = std::min(margin, still.stuck ? still.margin : 1.5);
    blurred = blurred && still.blurred;
    doubtful = doubtful || still.doubtful;
  }
  const Reading& first = *objectives.front();
  const double level = first.shown(signal::median(first.curve.value));
  const int classes = patient.reinforcement() ? 0 : chance_classes(level, settings["chance_tolerance"]).value_or(0);
  if (something_learned(patient, classes, settings)) return NotFound{};
  std::string summary = first.name + " has not moved since the start: " + number(first.shown(first.start)) + " then, " +
                        number(first.shown(first.end)) + " now";
  if (classes > 0) summary += ", the loss of guessing among " + std::to_string(classes) + " classes";
  const double confidence = confidence_of(classes > 0 ? 2 * margin : margin);
  Observation seen = observe((blurred || doubtful) && !guesses ? Severity::note : Severity::critical, confidence,
                             first.first_step, first.last_step, summary + ".");
  if (classes > 0) seen.qualifiers["classes"] = std::to_string(classes);
  for (const Reading* reading : objectives) {
    const double gain = stillness_of(*reading, settings).gain;
    seen.evidence.push_back(
        evidence(reading->name, reading->first_step, reading->last_step, gain, settings["gain_share"],
                 "gained " + per_cent(gain) + " of its level in " + number(reading->curve.points()) + " points"));
  }
  return seen;
}

}  // namespace

Finding loss_stuck_from_start() {
  return {"loss-stuck-from-start",
          "The loss has not moved since the start",
          {Need::curve},
          kDoc,
          {{"fewest_points", 8, "below this stillness means nothing"},
           {"gain_share", 0.02, "share of the level that must be gained to count as moving"},
           {"climb_share", 0.1, "share of the level by which the loss may have risen; more is loss-diverging"},
           {"climb_units", 6, "noise levels of such a rise, the same as for loss-diverging"},
           {"factor", 0.3, "movement in natural-log units that counts whatever the scatter"},
           {"noisy_gain_share", 0.04, "the same for a curve whose noise hides any trend"},
           {"fair_gain", 0.1, "gain, as a share of the level, that noise may hide: then it is only a note"},
           {"noise_units", 1, "noise levels the later part must lie below the first"},
           {"wander_units", 3,
            "scatter and wandering together, in units of which the lowest level must lie near the first"},
           {"p_value", 0.05, "significance a trend must have"},
           {"reward_gain_share", 0.1, "change of a reward, as a share of its scale, below which it is stuck"},
           {"reward_scatter", 3, "the scale of a reward is its level, or this many times the scatter of episodes"},
           {"reward_p_value", 0.001, "significance above which a small change of a reward is none"},
           {"metric_gain", 0.1, "relative gain of an accuracy or metric that proves learning"},
           {"good_accuracy", 0.9, "accuracy that proves learning whatever the trend"},
           {"guess_tolerance", 0.12, "relative distance of accuracy from 1/C and of loss from ln(C) that is guessing"},
           {"above_chance", 0.1, "accuracy above 1/C that counts as more than guessing"},
           {"chance_tolerance", 0.03, "relative distance from ln(C) that counts as chance level"}},
          check};
}

}  // namespace osler::catalogue
