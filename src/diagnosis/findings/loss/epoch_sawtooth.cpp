// epoch-sawtooth: the loss repeats a ramp in every epoch.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "diagnosis/accuracies.h"
#include "diagnosis/epochs.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/movement.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"
#include "diagnosis/rates.h"
#include "signal/repetition.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Within every epoch the loss goes down a ramp and leaps back up at the boundary, or climbs and falls back.

## Signature
Over at least `fewest_epochs` epochs, the leap at the boundary (first quarter of the next epoch against the last
quarter of this one) or the climb within the epoch goes the wrong way in `steady` of them, exceeds `standard_errors`
standard errors, and in the median `amplitude` of the level. A climb counts only when it undoes at least `undoes` of
the drop at the boundary; it is looked for in the later half of the epochs as well, where the descent no longer hides
it. Or the same pattern comes back in every epoch: folded over the later half of the epochs, the places within the
epoch explain `pattern_share` of the loss's scatter about its trend, and differ by `pattern_amplitude` of the level.
Boundaries come from a series of epochs, else from the distance between validations. Where neither shows it, the loss
itself may: scatter that comes back in the same order after a fixed number of rows, `fewest_late` times or more, is a
fixed order of the batches. Or training is right in less than `unlearned` of the cases in which validation is, over the
first `early` of the run, or, in the mean of an epoch, less often than its loss gives probability to right answers: batches
of one class each, of which every one undoes what the last has taught. No noise in labels and no dropout makes answers
that much worse than guesses.

## Why it matters
The batches come in the same order every time: classes or difficulties follow each other, and the model adapts to what
it has just seen. Shuffling removes it.

## When it is harmless
A staircase, falling at each boundary and flat between, is a model that remembers its data. Adaptive optimizers make
the loss climb a little within each epoch even on shuffled data, so a climb is a note and only a leap a warning.
Running means that start anew in each epoch also fall there. A pattern without a leap is a note: many runs learn well
with it. A learning rate that restarts with each epoch makes waves by design.

## References
- Bottou 2009, Curiously fast convergence of some stochastic gradient descent algorithms: the role of shuffling.
- Liu and Ma 2024, The Epochal Sawtooth Phenomenon: Adam climbs within epochs even on shuffled data.
)";

/// One kind of motion, epoch by epoch, in shares of the level.
struct Motions {
  std::vector<double> within;    // last quarter minus first quarter of an epoch
  std::vector<double> boundary;  // first quarter of the next epoch minus last quarter of this one
  double noise = 0;              // what independent scatter alone does to each of them
};

/// The deviation of the difference of two medians of so many values, by how much neighbouring values differ.
double noise_of_difference(std::span<const double> values, std::size_t in_a_median) {
  constexpr double kOfMedian = 1.2533;  // deviations of a median over those of a mean, of normal scatter
  std::vector<double> differences;
  for (std::size_t i = 1; i < values.size(); ++i) differences.push_back(values[i] - values[i - 1]);
  // A difference of two values has sqrt 2 times their deviation, and so has a difference of two medians.
  return kOfMedian * signal::mad_scale(differences) / std::sqrt(static_cast<double>(in_a_median));
}

Motions motions_of(const signal::Curve& loss, const std::vector<EpochRange>& epochs, double scale) {
  Motions motions;
  std::vector<double> noise;
  double tail_before = 0;
  double level_before = 0;
  for (std::size_t e = 0; e < epochs.size(); ++e) {
    const auto values = std::span(loss.value).subspan(epochs[e].first, epochs[e].last - epochs[e].first);
    const std::size_t quarter = values.size() / 4;
    const double head = signal::median(values.first(quarter));
    const double tail = signal::median(values.last(quarter));
    // A loss that may be negative has no level of its own to compare with.
    const double level = scale > 0 ? scale : std::max(std::abs(signal::median(values)), 1e-300);
    motions.within.push_back((tail - head) / level);
    noise.push_back(noise_of_difference(values, quarter) / level);
    if (e > 0) motions.boundary.push_back((head - tail_before) / level_before);
    tail_before = tail;
    level_before = level;
  }
  motions.noise = signal::median(noise);
  return motions;
}

/// Whether nearly all of `values` are positive, significantly and sizeably so. Few values may lie close together by
/// chance: they scatter at least as the loss does.
bool steadily_up(const std::vector<double>& values, double noise, const SettingValues& settings) {
  const auto n = static_cast<double>(values.size());
  const auto up = static_cast<double>(std::count_if(values.begin(), values.end(), [](double v) { return v > 0; }));
  const double typical = signal::median(values);
  const double scatter = signal::mad_scale(values);
  const double least = n < settings["many_epochs"] ? noise : 0;
  return up >= settings["steady"] * n && typical > settings["amplitude"] &&
         typical > settings["standard_errors"] * std::max(scatter, least) / std::sqrt(n);
}

/// How the loss saws over a number of epochs.
struct Saw {
  std::size_t epochs = 0;
  double within = 0;    // median over the epochs, in shares of the level
  double boundary = 0;  // the same at their ends
  bool leaps = false;
  bool climbs = false;
};

Saw saw_of(const signal::Curve& loss, const std::vector<EpochRange>& epochs, double scale,
           const SettingValues& settings) {
  const Motions motions = motions_of(loss, epochs, scale);
  Saw saw;
  saw.epochs = epochs.size();
  saw.within = signal::median(motions.within);
  saw.boundary = signal::median(motions.boundary);
  saw.leaps = steadily_up(motions.boundary, motions.noise, settings) && saw.within < 0;
  saw.climbs = steadily_up(motions.within, motions.noise, settings) && saw.boundary < 0 &&
               saw.within > -settings["undoes"] * saw.boundary;
  return saw;
}

/// What comes back at the same place of every epoch.
struct Pattern {
  double share = 0;      // of the scatter about the trend that the place within the epoch explains
  double amplitude = 0;  // half the distance from the lowest to the highest place, as a share of the level
};

/// How many places an epoch is divided into: its rows where every epoch has equally many, so that each row meets its
/// like, else a few wide ones.
std::size_t places_in(const std::vector<EpochRange>& epochs) {
  constexpr std::size_t kWide = 16;
  const std::size_t rows = epochs.back().last - epochs.back().first;
  const bool equal = std::all_of(epochs.begin(), epochs.end(),
                                 [&](const EpochRange& epoch) { return epoch.last - epoch.first == rows; });
  return equal ? rows : kWide;
}

/// Folds the later half of the epochs onto each other. The mean over one epoch, which a pattern leaves alone, is the
/// trend.
Pattern pattern_of(const signal::Curve& loss, const std::vector<EpochRange>& epochs, double scale) {
  const std::size_t places = places_in(epochs);
  std::vector<double> sums(places, 0.0);
  std::vector<double> counts(places, 0.0);
  std::vector<std::pair<std::size_t, double>> residuals;
  for (std::size_t e = epochs.size() / 2; e < epochs.size(); ++e) {
    const auto values = std::span(loss.value).subspan(epochs[e].first, epochs[e].last - epochs[e].first);
    const double middle = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    const double level = scale > 0 ? scale : std::max(std::abs(middle), 1e-300);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t place = i * places / values.size();
      const double residual = (values[i] - middle) / level;
      sums[place] += residual;
      counts[place] += 1;
      residuals.emplace_back(place, residual);
    }
  }
  std::vector<double> means;
  for (std::size_t place = 0; place < places; ++place) {
    if (counts[place] > 0) means.push_back(sums[place] / counts[place]);
  }
  double all = 0;
  double left = 0;
  for (const auto& [place, residual] : residuals) {
    const double rest = residual - sums[place] / counts[place];
    all += residual * residual;
    left += rest * rest;
  }
  // Places that hold few values each explain some of the scatter by chance.
  const auto n = static_cast<double>(residuals.size());
  const double chance = std::min(0.9, static_cast<double>(means.size()) / std::max(n, 1.0));
  Pattern pattern;
  pattern.share = all > 0 ? std::max(0.0, (1 - left / all - chance) / (1 - chance)) : 0;
  pattern.amplitude = 0.5 * (signal::quantile(means, 0.95) - signal::quantile(means, 0.05));
  return pattern;
}

/// A pattern that matters, as a note: many runs learn well with it.
Verdict judge_pattern(const Reading& loss, const signal::Curve& curve, const std::vector<EpochRange>& epochs,
                      double scale, const std::string& from, const SettingValues& settings) {
  const Pattern pattern = pattern_of(curve, epochs, scale);
  if (pattern.share < settings["pattern_share"] || pattern.amplitude < settings["pattern_amplitude"]) {
    return NotFound{};
  }
  Observation seen = observe(Severity::note, confidence_of(pattern.amplitude / settings["pattern_amplitude"]),
                             std::llround(curve.step[epochs.front().first]), loss.last_step,
                             loss.name + " goes through the same ups and downs, by " + per_cent(pattern.amplitude) +
                                 " of its level, in every one of " + std::to_string(epochs.size()) + " epochs.");
  seen.qualifiers["shape"] = "pattern";
  seen.qualifiers["boundaries"] = from;
  seen.evidence.push_back(evidence(
      loss.name, seen.first_step, loss.last_step, pattern.share, settings["pattern_share"],
      "the place within the epoch explains " + per_cent(pattern.share) + " of the loss's scatter about its trend"));
  return seen;
}

/// Where the later two thirds of the curve repeat themselves: the stretches, as epochs of which nobody told. Empty when
/// they do not.
std::vector<EpochRange> repeated_stretches(const signal::Curve& curve, const SettingValues& settings) {
  signal::RepetitionOptions options;
  options.shortest = static_cast<std::size_t>(settings["fewest_rows"]);
  options.repeats = static_cast<std::size_t>(settings["fewest_late"]);
  const std::size_t from = curve.size() / 3;
  const auto repetition = signal::repetition_of(std::span(curve.value).subspan(from), options);
  std::vector<EpochRange> stretches;
  if (!repetition) return stretches;
  for (std::size_t last = curve.size(); last >= from + repetition->period; last -= repetition->period) {
    stretches.insert(stretches.begin(), {last - repetition->period, last});
  }
  return stretches;
}

/// The usual accuracy up to a step; 0 where none was logged by then. The mean, for the median of answers to single
/// samples is 0 wherever fewer than half are right.
double usual_until(const LossAndAccuracy& pair, double step) {
  const signal::Curve& curve = pair.accuracy->curve;
  const auto last = std::upper_bound(curve.step.begin(), curve.step.end(), step) - curve.step.begin();
  const double sum = std::accumulate(curve.value.begin(), curve.value.begin() + last, 0.0);
  return last == 0 ? 0 : pair.share(sum / static_cast<double>(last));
}

/// Training answers beside validation answers at one time.
struct Answers {
  double taught = 0;
  double known = 0;
  std::int64_t step = 0;
};

/// The first epoch of which fewer answers are right than the loss gives probability to the right ones. The mean
/// probability of the right class is at least exp(-loss), and one that knows how sure it may be is right as often.
std::optional<Answers> wrong_by_its_own_measure(const LossAndAccuracy& training, const LossAndAccuracy& validation,
                                                double until, const SettingValues& settings) {
  const signal::Curve& answers = training.accuracy->curve;
  const signal::Curve& losses = training.loss->curve;
  for (std::size_t i = 0; i < std::min(answers.size(), losses.size()) && answers.step[i] <= until; ++i) {
    if (losses.value[i] < settings["unsure"]) continue;
    const double taught = training.share(answers.value[i]);
    const double known =
        validation.share(validation.accuracy->curve.value[validation.accuracy->index_at(answers.step[i])]);
    if (taught < settings["by_its_loss"] * std::exp(-losses.value[i]) && known > settings["known"] &&
        taught < settings["of_validation"] * known) {
      return Answers{taught, known, std::llround(answers.step[i])};
    }
  }
  return std::nullopt;
}

/// Training answers are far worse than guesses while validation answers are not: each batch holds one class, and not
/// the one that the batch before it has taught.
std::optional<Observation> one_class_after_another(const Patient& patient, const SettingValues& settings) {
  const LossAndAccuracy* training = nullptr;
  const LossAndAccuracy* validation = nullptr;
  const std::vector<LossAndAccuracy> pairs = losses_with_accuracy(patient);
  for (const LossAndAccuracy& pair : pairs) (pair.split == "training" ? training : validation) = &pair;
  if (training == nullptr || validation == nullptr || training->loss->nonfinite > 0 || training->loss->negated ||
      training->accuracy->size() < settings["fewest_answers"] ||
      validation->accuracy->size() < settings["fewest_answers"]) {
    return std::nullopt;
  }
  const std::vector<double>& steps = training->accuracy->curve.step;
  const double until = steps.front() + settings["early"] * (steps.back() - steps.front());
  std::optional<Answers> found;
  if (averages_epochs(patient)) found = wrong_by_its_own_measure(*training, *validation, until, settings);
  if (!found) {
    const Answers usual = {usual_until(*training, until), usual_until(*validation, until), std::llround(until)};
    if (usual.known > settings["known"] && usual.taught < settings["unlearned"] * usual.known) found = usual;
  }
  if (!found) return std::nullopt;
  Observation seen =
      observe(Severity::warning, confidence_of(2), training->accuracy->first_step, training->accuracy->last_step,
              training->accuracy->name + " is " + per_cent(found->taught) + " by " + at_step(found->step) +
                  ", far below the " + per_cent(found->known) + " of " + validation->accuracy->name +
                  ": batches hold one class after another, each undoing the last.");
  seen.qualifiers["kind"] = "one-class-batches";
  seen.evidence.push_back(
      evidence(training->accuracy->name, training->accuracy->first_step, found->step, found->taught,
               settings["unlearned"] * found->known,
               "validation is right " + times(found->known / std::max(found->taught, 1e-3)) + " as often"));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training();
  if (loss == nullptr) return no_loss_to_check(patient);
  if (auto seen = one_class_after_another(patient, settings)) return std::move(*seen);
  const signal::Curve curve = close_up(patient, *loss);
  const double scale =
      curve.empty() || *std::min_element(curve.value.begin(), curve.value.end()) > 0 ? 0 : loss->top - loss->best;
  const Epochs epochs = epochs_of(patient, curve, static_cast<std::size_t>(settings["fewest_rows"]));
  const std::vector<EpochRange> repeated = repeated_stretches(curve, settings);
  if (static_cast<double>(epochs.ranges.size()) < settings["fewest_epochs"]) {
    if (!repeated.empty()) return judge_pattern(*loss, curve, repeated, scale, "the loss itself", settings);
    return NotChecked{"fewer than " + number(settings["fewest_epochs"]) + " epochs with at least " +
                      number(settings["fewest_rows"]) + " logged losses each"};
  }
  if (const auto rate = main_rate(patient); rate && rises_at_boundaries(*rate, curve, epochs)) return NotFound{};

  // The first epoch descends too steeply to tell a ramp.
  const std::vector<EpochRange> later(epochs.ranges.begin() + 1, epochs.ranges.end());
  Saw saw = saw_of(curve, later, scale, settings);
  // A steep descent hides a climb within its epochs, which shows when it has flattened.
  const std::size_t half = later.size() / 2;
  if (!saw.leaps && !saw.climbs && static_cast<double>(later.size() - half) >= settings["fewest_late"]) {
    const Saw late = saw_of(curve, {later.begin() + static_cast<std::ptrdiff_t>(half), later.end()}, scale, settings);
    if (late.climbs && !late.leaps) saw = late;
  }
  const bool leaps = saw.leaps;
  const double within = saw.within;
  const double boundary = saw.boundary;
  const std::string count = std::to_string(saw.epochs);
  if (!saw.leaps && !saw.climbs) {
    Verdict pattern = judge_pattern(*loss, curve, later, scale, epochs.from, settings);
    if (std::holds_alternative<Observation>(pattern) || repeated.empty()) return pattern;
    return judge_pattern(*loss, curve, repeated, scale, "the loss itself", settings);
  }

  const double amplitude = leaps ? boundary : within;
  Observation seen =
      observe(leaps ? Severity::warning : Severity::note, confidence_of(amplitude / settings["amplitude"]),
              std::llround(curve.step[later.front().first]), loss->last_step,
              loss->name + (leaps ? " leaps up by " : " climbs by ") + per_cent(amplitude) +
                  (leaps ? " of its level at the start of each of " : " of its level within each of ") + count +
                  " epochs" + (leaps ? " and comes down within it." : " and falls back after it."));
  seen.qualifiers["shape"] = leaps ? "down within the epoch" : "up within the epoch";
  seen.qualifiers["boundaries"] = epochs.from;
  seen.evidence.push_back(evidence(loss->name, seen.first_step, loss->last_step, amplitude, settings["amplitude"],
                                   "within an epoch " + per_cent(within) + ", at its boundary " + per_cent(boundary) +
                                       " of the level (medians over " + count + " epochs)"));
  return seen;
}

}  // namespace

Finding epoch_sawtooth() {
  return {"epoch-sawtooth",
          "The loss saws with the epochs",
          {Need::curve},
          kDoc,
          {{"fewest_rows", 8, "losses per epoch needed to see its inside"},
           {"many_epochs", 12, "epochs whose leaps tell their own scatter"},
           {"fewest_epochs", 5, "epochs needed to call it a pattern"},
           {"fewest_late", 4, "the same for the later half of the run, in which only a climb is looked for"},
           {"steady", 0.85, "share of the epochs that must show it"},
           {"standard_errors", 4, "standard errors by which the median must exceed zero"},
           {"amplitude", 0.08, "share of the level that the saw must reach to matter"},
           {"pattern_share", 0.5, "share of the scatter that the place within the epoch must explain"},
           {"pattern_amplitude", 0.15, "half the range of a pattern, as a share of the level, that matters"},
           {"fewest_answers", 6, "accuracies of training and of validation needed to compare them"},
           {"early", 0.2, "first part of the run in which they are compared"},
           {"unsure", 1, "loss, in nats, above which the means of epochs are compared with it"},
           {"by_its_loss", 0.5, "share of exp(-loss) that fewer answers are right than; no healthy run has 0.6"},
           {"of_validation", 0.33, "share of the validation accuracy that training stays below in that case"},
           {"known", 0.1, "validation accuracy by then that shows that something is known"},
           {"unlearned", 0.2,
            "share of it below which training answers worse than a guess; dropout of 0.8 leaves 0.41, labels of which "
            "three quarters are wrong 0.5 (population)"},
           {"undoes", 0.5, "share of the drop at the boundary that a climb must undo; a staircase undoes none"}},
          check,
          JudgedBy::loss};
}

}  // namespace osler::catalogue
