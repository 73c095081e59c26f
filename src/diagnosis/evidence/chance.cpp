// Levels of chance by figure of merit.
#include "diagnosis/evidence/chance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "diagnosis/accuracies.h"
#include "diagnosis/configured.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/facts.h"
#include "diagnosis/movement.h"
#include "signal/noise.h"
#include "signal/robust.h"

namespace osler {
namespace {

constexpr std::size_t kFewestLosses = 8;
constexpr std::size_t kFewestEvaluations = 5;
constexpr std::size_t kFewestToRest = 40;  // losses after which one that stands has come to rest
constexpr std::size_t kFewestBeside = 2;   // evaluations beside a training loss that many points tell
constexpr std::size_t kPatience = 10;      // evaluations after which a detector should have found something
constexpr double kBesideLoss = 0.015;      // relative distance from ln C of a loss that never left it
constexpr double kBesideBoth = 0.04;       // the same where the accuracy agrees
constexpr double kBesideAuc = 0.03;        // area under the curve of a few hundred samples of guessing (Hanley 1982)
constexpr double kNothingFound = 0.003;    // mAP, F1, IoU or Dice of a model that finds nothing
constexpr double kGuessedAccuracy = 0.62;  // a constant guess is seldom right more often
constexpr double kNearStart = 0.1;         // relative distance from ln C of a first loss that guesses as well
constexpr double kRisen = 0.25;            // a rise of the accuracy from its first value that guessing does not have

/// The values after the first third: what a model does once it had time to learn.
std::span<const double> settled(const Reading& reading) {
  return std::span(reading.smoothed).subspan(reading.size() / 3);
}

bool within(std::span<const double> values, double low, double high) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value >= low && value <= high; });
}

Guessing stays(const Reading& reading, double chance, std::string words, bool validation) {
  return {reading.name, reading.first_step, reading.last_step, reading.shown(signal::median(settled(reading))),
          chance,       std::move(words),   /*classes=*/0,     validation};
}

/// Loss and accuracy agree on guessing among the same number of classes.
std::optional<Guessing> by_loss_and_accuracy(const Patient& patient) {
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    const Reading* training = patient.training();
    const bool beside = training != nullptr && training->size() >= kPatience;
    const std::size_t fewest = beside ? kFewestBeside : kFewestEvaluations;
    if (pair.loss->size() < fewest || pair.accuracy->size() < fewest) continue;
    const double accuracy = pair.share(signal::median(settled(*pair.accuracy)));
    const double best = pair.best();
    const double first = pair.share(first_value(patient, *pair.accuracy));
    if (!(accuracy > 0) || best > kGuessedAccuracy || best - first > kRisen) continue;
    const double level = signal::median(settled(*pair.loss));
    const int told = configured_classes(patient).value_or(0);
    const int by_loss = static_cast<int>(std::lround(std::exp(std::min(level, 12.0))));
    const int classes = told > 1 ? told : std::max(2, by_loss);
    const double chance = std::log(classes);
    // Classes need not be equally frequent: guessing is right a little more often than in one of C cases.
    // Among many classes even two answers in a hundred are many times what guessing gets right.
    const double slack = std::min(0.02, 1.0 / classes);
    const bool guessed = best < 1.6 / classes + slack || (told == 0 && std::abs(accuracy * classes - 1) < 0.15);
    // It may have begun worse than guessing; better it never was.
    if (guessed && pair.loss->best > (1 - kBesideBoth) * chance &&
        within(settled(*pair.loss), (1 - kBesideBoth) * chance, (1 + 2 * kBesideBoth) * chance) &&
        std::abs(level / chance - 1) < kBesideBoth) {
      Guessing found = stays(*pair.loss, chance, "the loss of guessing among " + std::to_string(classes) + " classes",
                             pair.split == "validation");
      found.classes = classes;
      return found;
    }
  }
  return std::nullopt;
}

/// The loss alone: never more than a trifle from ln C for a C that people have.
std::optional<Guessing> by_loss(const Patient& patient) {
  for (const Reading* loss : patient.objectives()) {
    if (loss->size() < kFewestLosses || loss->negated) continue;
    const double level = signal::median(loss->curve.value);
    const auto told = configured_classes(patient);
    const auto classes =
        told && std::abs(level / std::log(*told) - 1) < kBesideLoss ? told : chance_classes(level, kBesideLoss / 3);
    if (!classes) continue;
    const double chance = std::log(*classes);
    if (!within(loss->smoothed, (1 - kBesideLoss) * chance, (1 + kBesideLoss) * chance)) continue;
    Guessing found = stays(*loss, chance, "the loss of guessing among " + std::to_string(*classes) + " classes",
                           loss == patient.validation());
    found.classes = *classes;
    return found;
  }
  return std::nullopt;
}

/// A part of the loss that tells classes apart, by its name, and never left the loss of guessing, whatever the rest
/// did: another part is so much larger that this one goes unheard.
std::optional<Guessing> by_part(const Patient& patient) {
  for (const Role role : {Role::train_loss, Role::validation_loss}) {
    for (const Cast& cast : patient.roles().in(role)) {
      const std::string& name = cast.series->name();
      constexpr std::array<std::string_view, 4> kTellers = {"class", "cls", "occupancy", "mask"};
      const bool tells_classes =
          cast.guess.measure == Measure::cross_entropy ||
          std::any_of(kTellers.begin(), kTellers.end(), [&](auto word) { return name.find(word) != name.npos; });
      if (!cast.guess.component || !tells_classes) continue;
      const Reading part = read_series(*cast.series, false);
      if (part.size() < kFewestLosses) continue;
      const auto classes = chance_classes(signal::median(part.curve.value), kBesideLoss / 3);
      if (!classes) continue;
      const double chance = std::log(*classes);
      if (!within(part.smoothed, (1 - kBesideLoss) * chance, (1 + kBesideLoss) * chance)) continue;
      Guessing found = stays(part, chance, "the loss of guessing among " + std::to_string(*classes) + " classes",
                             role == Role::validation_loss);
      found.classes = *classes;
      return found;
    }
  }
  return std::nullopt;
}

/// The classes among which a guess costs what the later values of a loss cost: where its noise allows, both halves of
/// them lie there, and nothing is gained from one to the other.
std::optional<int> rests_at_chance(const Reading& loss, std::initializer_list<int> candidates) {
  constexpr double kMedianError = 1.25;  // of a median, relative to that of a mean
  constexpr double kBlur = 0.006;        // relative error of the level beyond which noise could put it anywhere
  constexpr double kBlurOfMany = 0.001;  // the same among more than two: losses of texts settle near 2.3 as well
  constexpr double kStandardErrors = 2.5;
  constexpr double kFar = 8;  // times that loss, from where more than a guess is learned on the way down
  const auto later = std::span(loss.curve.value).subspan(loss.size() / 3);
  const auto early = later.first(later.size() / 2);
  const auto late = later.subspan(later.size() / 2);
  const double points =
      signal::effective_count(static_cast<double>(early.size()), std::max(0.0, signal::autocorrelation(later, 1)));
  const double error = kMedianError * signal::mad_scale(later) / std::sqrt(points);
  for (const int classes : candidates) {
    const double chance = std::log(classes);
    if (error > (classes == 2 ? kBlur : kBlurOfMany) * chance || loss.opening > kFar * chance) continue;
    const double near = kBesideLoss / 5 * chance + kStandardErrors * error;
    const auto beside = [&](std::span<const double> values) {
      return std::abs(signal::median(values) - chance) < near;
    };
    if (beside(early) && beside(late) && beside(later)) return classes;
  }
  return std::nullopt;
}

/// A loss that came down and has stood at the loss of guessing between two or among ten ever since, as closely as its
/// noise tells: no task has its floor there by chance.
std::optional<Guessing> by_rest(const Patient& patient) {
  const Reading* loss = patient.training() != nullptr ? patient.training() : patient.validation();
  if (loss == nullptr || loss->negated || loss->size() < kFewestToRest || loss_without_logarithm(patient)) {
    return std::nullopt;
  }
  const auto classes = rests_at_chance(*loss, {2, 10});
  if (!classes || loss->opening < std::log(*classes)) return std::nullopt;
  // A language model begins at the logarithm of its vocabulary, and where it comes to rest is chance.
  constexpr double kSmallestVocabulary = 6.2;  // ln 500
  const bool says_classes = configured_classes(patient).has_value() || !losses_with_accuracy(patient).empty();
  if (*classes > 2 && loss->opening > kSmallestVocabulary && !says_classes) return std::nullopt;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    const double right = pair.share(signal::median(settled(*pair.accuracy)));
    if (right > (*classes == 2 ? kGuessedAccuracy : 2.0 / *classes)) return std::nullopt;
  }
  Guessing found =
      stays(*loss, std::log(*classes), "the loss of guessing among " + std::to_string(*classes) + " classes",
            loss == patient.validation());
  found.classes = *classes;
  return found;
}

/// Training and validation, measured apart, have both come to rest at the loss of guessing among the same classes: from
/// wherever they came, nothing is known any more.
std::optional<Guessing> by_both_losses(const Patient& patient) {
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr || training->negated || validation->negated ||
      training->size() < kFewestLosses || validation->size() < kFewestLosses) {
    return std::nullopt;
  }
  const double level = signal::median(settled(*training));
  const auto told = configured_classes(patient);
  const bool at_told = told && std::abs(level / std::log(*told) - 1) < kBesideLoss;
  const auto classes = at_told ? told : chance_classes(level, kBesideLoss);
  // A loss that came down from far above may have its floor there, unless there are just so many classes.
  if (!classes || (!at_told && first_value(patient, *training) > (1 + kNearStart) * std::log(*classes))) {
    return std::nullopt;
  }
  const double chance = std::log(*classes);
  const bool both = std::abs(signal::median(settled(*validation)) / chance - 1) < kBesideLoss &&
                    within(settled(*training), (1 - 2 * kBesideLoss) * chance, (1 + 2 * kBesideBoth) * chance) &&
                    within(settled(*validation), (1 - 2 * kBesideLoss) * chance, (1 + 2 * kBesideBoth) * chance);
  if (!both) return std::nullopt;
  Guessing found =
      stays(*training, chance, "the loss of guessing among " + std::to_string(*classes) + " classes", false);
  found.classes = *classes;
  return found;
}

/// Training and validation, measured apart, have come to rest at exactly 1 and were never lower: the squared error of
/// answering with the mean, where targets are normalised, and the whole of an overlap or a margin elsewhere.
std::optional<Guessing> by_normalised_losses(const Patient& patient) {
  constexpr double kBeside = 0.01;
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr || training->negated || validation->negated ||
      training->size() < kFewestToRest / 2 || validation->size() < kFewestToRest / 2) {
    return std::nullopt;
  }
  const auto rests = [](const Reading& loss) {
    return loss.best > 1 - kBeside && within(settled(loss), 1 - kBeside, 1 + kBeside);
  };
  if (!rests(*training) || !rests(*validation)) return std::nullopt;
  return stays(*training, 1, "that of answering with the mean of normalised targets", false);
}

std::optional<Guessing> by_metric(const Patient& patient, Role role, bool validation) {
  for (const Cast& cast : patient.roles().in(role)) {
    const Reading metric = read_series(*cast.series, cast.guess.higher_is_better);
    if (metric.size() < kFewestEvaluations || cast.guess.component) continue;
    const double best = metric.shown(metric.best);
    switch (cast.guess.measure) {
      case Measure::auc: {
        const double unit = best > 1.5 ? 100 : 1;
        // Below a half it ranks worse than guessing, which is as little use.
        if (best < unit * (0.5 + kBesideAuc)) {
          Guessing found = stays(metric, 0.5 * unit, "the area under the curve of guessing", validation);
          found.classes = 2;
          return found;
        }
        break;
      }
      case Measure::r2:
        if (best <= 0) return stays(metric, 0, "no better than predicting the mean", validation);
        break;
      case Measure::average_precision:
      case Measure::iou:
      case Measure::dice:
      case Measure::f1: {
        if (metric.size() >= kPatience && best < kNothingFound && metric.shown(metric.top) >= 0) {
          return stays(metric, 0, "that of a model that finds nothing", validation);
        }
        break;
      }
      default:
        break;
    }
  }
  return std::nullopt;
}

constexpr double kPerCent = 100;
constexpr double kFollows = 0.7;        // what is left of 1 - R2 where it follows the loss
constexpr double kLowAccuracy = 0.35;   // mean of the later accuracies: more may be the share of the largest class
constexpr std::size_t kAccuracies = 6;  // evaluations after which an accuracy should have risen
constexpr double kSure = 0.05;          // significance of a rise
constexpr double kHardly = 0.04;        // share of right answers below which a rise is none, however sure
constexpr double kSeveral = 3;          // times the first third of the evaluations: so much more is a rise
constexpr double kBurst = 1.6;          // times the mean, and
constexpr double kNats = 10;            // beyond 1.5 ln(1000) a loss is no plain cross-entropy
constexpr double kTwice = 2;            // times the first value: what rose so far and fell again had risen
constexpr double kGrain = 0.03;         // this much more, that a single evaluation reaches by luck

std::optional<Unlearned> below_the_mean(const Reading& r2, bool validation) {
  constexpr double kLucky = 0.005;  // what the best of several evaluations of a constant reaches
  if (r2.size() < kFewestEvaluations || r2.shown(r2.best) > kLucky) return std::nullopt;
  const double left = (1 - r2.shown(r2.end)) / (1 - r2.shown(r2.start));
  return Unlearned{r2.name,    r2.shown(r2.best), 0,           "no better than predicting the mean", left < kFollows,
                   validation, r2.first_step,     r2.last_step};
}

std::optional<Unlearned> never_risen(const Reading& accuracy, bool validation) {
  if (accuracy.size() < kAccuracies) return std::nullopt;
  const double unit = accuracy.shown(accuracy.best) > 1.5 ? 100 : 1;
  const auto later = std::span(accuracy.curve.value).subspan(accuracy.size() / 3);
  const double mean = -std::accumulate(later.begin(), later.end(), 0.0) / static_cast<double>(later.size()) / unit;
  const double best = -*std::min_element(later.begin(), later.end()) / unit;
  const signal::Trend trend = signal::trend_of(accuracy.curve.step, accuracy.curve.value);
  const double first = accuracy.shown(accuracy.opening) / unit;
  // Among many classes a rise to a few per cent is one: the last third is then several times the first.
  const auto values = std::span(accuracy.curve.value);
  const std::size_t third = accuracy.size() / 3;
  const bool multiplied = -signal::median(values.last(third)) > kSeveral * -signal::median(values.first(third));
  const bool rose = trend.falls(kSure) && (best - first > kHardly || multiplied);
  if (!(mean > 0) || mean > kLowAccuracy || rose || best > kBurst * mean + kGrain || best > kLowAccuracy ||
      best > kTwice * first + kGrain) {
    return std::nullopt;
  }
  return Unlearned{accuracy.name,
                   accuracy.shown(accuracy.best),
                   kLowAccuracy * unit,
                   "and has not risen since its first values",
                   false,
                   validation,
                   accuracy.first_step,
                   accuracy.last_step,
                   best > 0 ? -std::log(best) : 0};
}

/// It ranks no better than a guess, and never did.
std::optional<Unlearned> ranks_nothing(const Reading& area, bool validation) {
  if (area.size() < kAccuracies) return std::nullopt;
  const double best = area.shown(area.best);
  const double unit = best > 1.5 ? 100 : 1;
  if (best > unit * (0.5 + kBesideAuc)) return std::nullopt;
  return Unlearned{area.name, best,       0.5 * unit,      "no better than guessing",
                   false,     validation, area.first_step, area.last_step};
}

/// A recogniser that gets every word wrong from the first evaluation to the last, and whose training loss has come to
/// rest: it answers with blanks.
std::optional<Unlearned> every_word_wrong(const Patient& patient, const Reading& errors, bool validation) {
  constexpr double kAllWrong = 0.97;
  constexpr double kRests = 0.05;  // of its level, by which the loss of one that still learns falls in the last third
  const Reading* training = patient.training();
  if (errors.size() < kPatience || training == nullptr || training->negated || training->size() < kPatience) return {};
  const double unit = errors.best > 1.5 ? kPerCent : 1;
  const double fall = training->smoothed[training->size() * 2 / 3] - training->end;
  if (errors.best < kAllWrong * unit || fall > kRests * training->level) return {};
  return Unlearned{errors.name, errors.best, kAllWrong * unit,  "as if nothing were recognised",
                   true,        validation,  errors.first_step, errors.last_step};
}

/// The log begins in the middle of a training: its first values are none of an untrained model.
bool begins_late(const Patient& patient) {
  constexpr double kShare = 0.5;  // first step, in lengths of the log
  const Reading* training = patient.training();
  return training != nullptr && !training->curve.empty() &&
         static_cast<double>(training->first_step) >
             kShare * (training->curve.step.back() - training->curve.step.front());
}

}  // namespace

bool Unlearned::agrees(const Reading& loss) const {
  constexpr double kFar = 0.2;  // of its start: what fell that far was blown up or a sum, and tells nothing of guesses
  return guess > 0 && loss.end >= guess && loss.end > kFar * loss.start;
}

std::optional<Unlearned> unlearned(const Patient& patient) {
  if (patient.reinforcement() || patient.adversarial()) return std::nullopt;
  // What such a loss means beside a poor accuracy is told of the loss.
  const Reading* training = patient.training();
  const bool odd = training != nullptr && (training->end < 0 || training->end > kNats);
  for (const Role role :
       {Role::validation_metric, Role::validation_accuracy, Role::train_metric, Role::train_accuracy}) {
    const bool validation = role == Role::validation_metric || role == Role::validation_accuracy;
    for (const Cast& cast : patient.roles().in(role)) {
      if (cast.guess.component) continue;
      if (cast.guess.measure == Measure::r2) {
        if (auto found = below_the_mean(read_series(*cast.series, true), validation)) return found;
      } else if (cast.guess.measure == Measure::auc) {
        if (auto found = ranks_nothing(read_series(*cast.series, true), validation)) return found;
      } else if (cast.guess.measure == Measure::word_error_rate) {
        if (auto found = every_word_wrong(patient, read_series(*cast.series, false), validation)) return found;
      } else if (cast.guess.measure == Measure::accuracy && !odd) {
        const Reading accuracy = read_series(*cast.series, true);
        if (accuracy.size() < kAccuracies) continue;
        return never_risen(accuracy, validation);  // of several splits the first tells
      }
    }
  }
  return std::nullopt;
}

std::optional<Guessing> guessing(const Patient& patient) {
  if (patient.reinforcement() || patient.adversarial()) return std::nullopt;
  if (auto found = by_loss_and_accuracy(patient)) return found;
  for (const auto& [role, validation] : {std::pair{Role::validation_metric, true}, std::pair{Role::train_metric, false},
                                         std::pair{Role::validation_accuracy, true}}) {
    if (auto found = by_metric(patient, role, validation)) return found;
  }
  if (auto found = by_loss(patient)) return found;
  if (auto found = by_both_losses(patient)) return found;
  if (auto found = by_normalised_losses(patient)) return found;
  if (auto found = by_part(patient)) return found;
  return by_rest(patient);
}

std::optional<int> class_count(const Patient& patient) {
  if (const auto told = configured_classes(patient)) return told;
  if (begins_late(patient)) return std::nullopt;
  constexpr double kAgree = 0.35;   // relative distance of the first accuracy from 1/C for C = exp(first loss)
  constexpr double kHighest = 7.5;  // nats: beyond a few thousand classes a few samples do not tell 1/C
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    const double loss = first_value(patient, *pair.loss);
    const double right = pair.share(first_value(patient, *pair.accuracy));
    if (!(loss > 0) || loss > kHighest || !(right > 0)) continue;
    const double classes = std::round(std::exp(loss));
    if (classes >= 2 && std::abs(right * classes - 1) < kAgree) return static_cast<int>(classes);
  }
  // A first loss that happens to be that of guessing among a few classes does not tell, when fewer answers are right.
  const auto guessed = known_classes(patient);
  // What was trained before does not begin by guessing: where its first loss lies is chance.
  if (!guessed || (fine_tuning(patient) && losses_with_accuracy(patient).empty())) return std::nullopt;
  // Nor does one beside answers of which more are right than chance and one epoch among as many classes explain.
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    constexpr double kFewer = 0.5;
    constexpr double kMore = 2;
    constexpr double kLearnedSoon = 0.3;
    const double right = pair.share(first_value(patient, *pair.accuracy));
    if (right < kFewer / *guessed || right > kLearnedSoon + kMore / *guessed) return std::nullopt;
  }
  return guessed;
}

namespace {

/// Whether nine in ten are right and half of the first errors are gone: learned, among however many classes.
bool lost_its_errors(const Reading& accuracy, double unit) {
  constexpr double kRight = 0.9;
  const double wrong_at_first = 1 - accuracy.shown(accuracy.start) / unit;
  const double wrong_at_last = 1 - accuracy.shown(accuracy.end) / unit;
  return 1 - wrong_at_last > kRight && wrong_at_last < wrong_at_first / 2;
}

}  // namespace

std::optional<Skill> skill(const Patient& patient) {
  constexpr double kStillRises = 0.25;  // of all it gained, within the last third
  const auto classes = class_count(patient);
  for (const Role role :
       {Role::validation_accuracy, Role::validation_metric, Role::train_accuracy, Role::train_metric}) {
    for (const Cast& cast : patient.roles().in(role)) {
      const Measure measure = cast.guess.measure;
      const bool accuracy = measure == Measure::accuracy || measure == Measure::balanced_accuracy;
      if (cast.guess.component || !(accuracy || measure == Measure::auc || measure == Measure::r2)) continue;
      const Reading reading = read_series(*cast.series, true);
      if (reading.size() < kFewestEvaluations) continue;
      const double best = reading.shown(reading.best);
      const double unit = measure != Measure::r2 && best > 1.5 ? 100 : 1;
      if (accuracy && !classes && !lost_its_errors(reading, unit)) continue;
      const double chance = accuracy ? 1.0 / classes.value_or(2) : measure == Measure::auc ? 0.5 : 0;
      const double gained = reading.start - reading.end;
      const double lately = reading.smoothed[reading.size() * 2 / 3] - reading.end;
      const double share = (best / unit - chance) / (1 - chance);
      const double soon = share + 3 * std::max(0.0, lately) / unit / (1 - chance);
      const bool rising = gained > 0 && lately > kStillRises * gained && lately > reading.noise.sigma;
      return Skill{cast.series->name(), share, best, rising, soon, reading.last_step};
    }
  }
  return std::nullopt;
}

}  // namespace osler
