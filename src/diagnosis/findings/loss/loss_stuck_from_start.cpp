// loss-stuck-from-start: the objective has not moved since the first step.
#include <algorithm>
#include <cmath>

#include "diagnosis/accuracies.h"
#include "diagnosis/configured.h"
#include "diagnosis/evidence/chance.h"
#include "diagnosis/evidence/latent.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/movement.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "signal/noise.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Training runs, but the loss stays where it began. For a classifier that is often ln(C), the loss of guessing uniformly
among C classes: 0.693 for 2, 1.386 for 4, 2.303 for 10, 6.908 for 1000.

## Signature
From the start to the best smoothed level the loss gained less than `gain_share` of its level; or it shows no
significant trend (Mann-Kendall, p above `p_value`) and gained less than one noise unit. A figure at its level of chance
from the first evaluation to the last makes it certain whatever the noise: cross-entropy at ln(C) with an accuracy of
1/C, an area under the curve of 0.5, R2 at or below 0, a detector that never finds anything, training and validation
at rest at exactly 1. Where noise would hide a gain of `fair_gain`, samples differ by more than `scattered` of the
level, or the log continues an earlier one, nothing is said; nor in the first `first_steps` steps under a monitor while
the loss falls.

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
  Stillness still;
  // Two smoothed levels from the ends: the best of hundreds of noisy points would always look like progress.
  const std::size_t n = reading.size();
  const std::size_t third = std::max<std::size_t>(1, n / 3);
  const std::size_t beginning = std::min(n, std::max<std::size_t>(3, n / 10));  // one noisy value is no level
  const double early = signal::median(std::span(reading.curve.value).first(beginning));
  const double late = signal::median(std::span(reading.curve.value).last(third));
  const double lowest = signal::quantile(reading.smoothed, 0.05);
  const double change = early - std::min(late, lowest);
  still.gain = reading.level > 0 ? change / reading.level : 0;
  const signal::Trend trend = signal::trend_of(reading.curve.step, reading.curve.value);
  const double scatter = std::max(reading.noise.sigma, 1e-12 * reading.level);
  const bool small = still.gain < settings["gain_share"];
  // A loss that climbs moves, if the wrong way. A climb within the noise still counts as standing.
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
  const double head = static_cast<double>(beginning);
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

/// Its samples differ more than training changes it, as where noise of random strength is to be removed.
bool is_scattered(const Patient& patient, const Reading& reading, double share) {
  return scatter_of_values(patient, reading) > share * reading.level;
}

/// The loss leapt away from its first value, and has come back to it and no lower.
bool only_came_back(const Patient& patient, const Reading& loss, const SettingValues& settings) {
  const std::size_t n = loss.size();
  const double first = loss.opening;
  if (loss.negated || !(first > 0) || n < settings["fewest_after_leap"] || loss.ends_nonfinite) return false;
  const auto values = std::span(loss.curve.value);
  const auto highest = std::max_element(loss.smoothed.begin(), loss.smoothed.end());
  const double late = signal::median(values.last(n / 4));
  const double noise = loss.noise.sigma;
  // A queue of negatives that fills raises the loss and lets it fall again: only a classifier is known to come from
  // guessing.
  if (!configured_classes(patient) && losses_with_accuracy(patient).empty()) return false;
  // Where one value says little about the level it came from, only that of guessing tells.
  const auto classes = class_count(patient);
  const bool guesses = classes && late > settings["guessing"] * std::log(*classes);
  const bool sure = guesses || noise < settings["sure"] * first;
  return sure && highest - loss.smoothed.begin() < static_cast<std::ptrdiff_t>(n / 3) &&
         *highest > settings["leapt"] * first && *highest - first > 4 * noise &&
         late > first - std::max(settings["gain_share"] * first, noise) && late < *highest - (*highest - first) / 2;
}

/// An accuracy or metric that moved shows that something is learned after all.
bool something_learned(const Patient& patient, int classes, const SettingValues& settings) {
  if (latent_gives_way(patient)) return true;
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

/// The log goes on where another one ended: it begins far from its first step.
bool continues(const Reading& reading, double share) {
  return static_cast<double>(reading.first_step) > share * (reading.curve.step.back() - reading.curve.step.front());
}

constexpr double kCameDown = 0.1;     // share of guessing by which a first value lay above it, and is told
constexpr double kCameDownUnits = 6;  // noise levels of the same, as for a loss that climbs

Observation describe(const Reading& first, const std::optional<Guessing>& guess, double margin) {
  std::string summary = first.name + " has not moved since the start: " + number(first.shown(first.start)) + " then, " +
                        number(first.shown(first.end)) + " now";
  if (guess) {
    const double above = first.shown(first.opening) - guess->level;
    const bool came_down = guess->classes > 0 && guess->series == first.name &&
                           above > std::max(kCameDown * guess->level, kCameDownUnits * first.noise.sigma);
    summary =
        guess->series +
        (came_down ? " came down from " + number(first.opening) + " to " + number(guess->level) + " and no further: "
                   : " stays at " + number(guess->level) + " from the start: ") +
        guess->words;
  }
  Observation seen = observe(Severity::critical, confidence_of(guess ? 2 * margin : margin), first.first_step,
                             first.last_step, summary + ".");
  if (guess && guess->classes > 0) seen.qualifiers["classes"] = std::to_string(guess->classes);
  if (guess) {
    seen.evidence.push_back(evidence(guess->series, guess->first_step, guess->last_step, guess->level, guess->chance,
                                     "guessing gives " + number(guess->chance)));
  }
  return seen;
}

/// Networks that play against each other may stand in balance, but not the terms beside the game as well: cycles,
/// identities, distances to a target.
Verdict check_game(const Patient& patient, const SettingValues& settings) {
  std::vector<Reading> losses;
  for (const Role role : {Role::generator_loss, Role::discriminator_loss, Role::train_loss}) {
    for (const Cast& cast : patient.roles().in(role)) {
      Reading loss = read_series(*cast.series, cast.guess.higher_is_better);
      if (loss.size() >= settings["fewest_points"] && loss.top != loss.best) losses.push_back(std::move(loss));
    }
  }
  if (static_cast<double>(losses.size()) < settings["players"]) {
    return NotChecked{"networks play against each other: their losses say little"};
  }
  // Of several that stand still one seems to move by luck; none does so by much more than noise.
  constexpr double kByLuck = 2.5;
  double stuck = 0;
  for (const Reading& loss : losses) {
    const Stillness still = stillness_of(loss, settings);
    const double moved = std::abs(loss.start - loss.end);
    if (still.blurred || moved > std::max(settings["noisy_gain_share"] * loss.level, kByLuck * loss.noise.sigma)) {
      return NotFound{};
    }
    stuck += still.stuck && !still.doubtful ? 1 : 0;
  }
  if (stuck < settings["standing"] * static_cast<double>(losses.size())) return NotFound{};
  Observation seen = describe(losses.front(), std::nullopt, 1.5);
  seen.summary = "None of the " + std::to_string(losses.size()) +
                 " losses has moved since the start: " + losses.front().name + " was " + number(losses.front().start) +
                 " then and is " + number(losses.front().end) + " now.";
  for (const Reading& loss : losses) {
    seen.evidence.push_back(evidence(loss.name, loss.first_step, loss.last_step, loss.end, loss.start,
                                     "went from " + number(loss.start) + " to " + number(loss.end)));
  }
  return seen;
}

/// The first steps of a training whose every step is recorded: its loss falls, if not far yet.
bool slow_start(const Patient& patient, const Reading& loss, const SettingValues& settings) {
  if (!monitored(patient) || loss.curve.points() >= settings["first_steps"]) return false;
  const signal::Trend trend = signal::trend_of(loss.curve.step, loss.curve.value);
  return trend.falls(settings["p_value"]);
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (patient.reinforcement()) return NotChecked{"the run is judged by its reward"};
  if (patient.adversarial()) return check_game(patient, settings);
  if (hardly_begun(patient)) return NotChecked{"the first updates of a language model show no trend"};
  std::vector<const Reading*> objectives = patient.objectives();
  std::erase_if(objectives, [&](const Reading* r) {
    return r->size() < settings["fewest_points"] || (r->top == 0 && r->best == 0);
  });
  const auto guess = guessing(patient);
  // Coming down to the loss of guessing, from worse, is no learning.
  const bool of_training =
      guess && patient.training() != nullptr && (guess->classes > 0 || guess->series == patient.training()->name);
  const double guessed = of_training && guess->classes > 0 ? std::log(guess->classes) : of_training ? guess->chance : 0;
  const bool never_better = of_training && patient.training()->best > settings["guessing"] * guessed;
  if (guess && (never_better || !training_improves(patient))) {
    const Reading* shown = patient.training() != nullptr ? patient.training() : patient.validation();
    if (shown != nullptr && !shown->curve.empty()) return describe(*shown, guess, 2);
  }
  if (const Reading* loss = patient.training();
      loss != nullptr && only_came_back(patient, *loss, settings) && !something_learned(patient, 0, settings)) {
    Observation seen = describe(*loss, std::nullopt, 1.5);
    seen.summary = loss->name + " only came back to where it began: " + number(loss->opening) + " at first, about " +
                   number(*std::max_element(loss->smoothed.begin(), loss->smoothed.end())) + " at its highest, " +
                   number(loss->end) + " now.";
    return seen;
  }
  if (objectives.empty()) {
    return NotChecked{"no loss other than zero with at least " + number(settings["fewest_points"]) + " points"};
  }
  if (guess == std::nullopt && few_single_batches(patient, *objectives.front())) {
    return NotChecked{"a few steps of single batches show no trend"};
  }
  if (slow_start(patient, *objectives.front(), settings)) {
    return NotChecked{"the loss falls, and fewer than " + number(settings["first_steps"]) + " steps were taken"};
  }
  double margin = 10;
  for (const Reading* reading : objectives) {
    const Stillness still = stillness_of(*reading, settings);
    // Noise may hide a gain from one curve, hardly from two that were measured apart.
    const bool hidden =
        objectives.size() < 2 && (still.blurred || is_scattered(patient, *reading, settings["scattered"]));
    if (!still.stuck || hidden || still.doubtful || continues(*reading, settings["continued"])) {
      return NotFound{};
    }
    margin = std::min(margin, still.margin);
  }
  const Reading& first = *objectives.front();
  if (something_learned(patient, 0, settings)) return NotFound{};
  Observation seen = describe(first, std::nullopt, margin);
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
          {{"players", 3, "losses that must stand still together where networks play against each other"},
           {"standing", 0.6, "share of them of which no trend may be seen at all"},
           {"fewest_after_leap", 20, "points needed to see that a loss which leapt has come back and no further"},
           {"leapt", 1.2, "times its first value that it must have reached on the way"},
           {"sure", 0.06, "noise, as a share of the first value, up to which that value is a level"},
           {"fewest_points", 8, "below this stillness means nothing"},
           {"first_steps", 100, "steps of a monitored training within which a loss that falls may fall slowly"},
           {"gain_share", 0.02, "share of the level that must be gained to count as moving"},
           {"climb_share", 0.1, "share of the level by which the loss may have risen; more is loss-diverging"},
           {"climb_units", 6, "noise levels of such a rise, the same as for loss-diverging"},
           {"factor", 0.3, "movement in natural-log units that counts whatever the scatter"},
           {"noisy_gain_share", 0.04, "the same for a curve whose noise hides any trend"},
           {"fair_gain", 0.3, "gain, as a share of the level, that noise may hide: then nothing is said"},
           {"scattered", 0.5, "noise, as a share of the level, of a loss in which no standstill can be seen"},
           {"noise_units", 1, "noise levels the later part must lie below the first"},
           {"wander_units", 3,
            "scatter and wandering together, in units of which the lowest level must lie near the first"},
           {"p_value", 0.05, "significance a trend must have"},
           {"metric_gain", 0.1, "relative gain of an accuracy or metric that proves learning"},
           {"good_accuracy", 0.9, "accuracy that proves learning whatever the trend"},
           {"above_chance", 0.1, "accuracy above 1/C that counts as more than guessing"},
           {"guessing", 0.93, "share of the loss of guessing above which training has learned nothing"},
           {"continued", 0.5, "first step, in lengths of the log, from which on the log continues an earlier one"}},
          check};
}

}  // namespace osler::catalogue
