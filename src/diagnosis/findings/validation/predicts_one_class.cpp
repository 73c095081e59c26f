// predicts-one-class: the model gives one answer to everything.
#include <algorithm>
#include <cmath>
#include <optional>

#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Every sample gets the same answer. The accuracy is then the share of that class, to the last digit, however the
confidence and with it the loss may move; what counts positives (F1, recall, Dice, IoU) is exactly zero.

## Signature
A validation accuracy below `ceiling` (or above it, where F1, Dice and IoU never reach `missed`) is one and the same number in `share` of at least `fewest_evaluations` evaluations,
the first ones included, while the validation loss takes as many different values. Or F1, recall, Dice or IoU is exactly
zero in the last `fewest_evaluations` evaluations and the last `zero_share` of them all.

## Why it matters
The loss can fall all the while, down to that of knowing the class frequencies. Nothing is told apart.

## When it is harmless
In the first epochs of a detector or a segmentation nothing is found yet. An accuracy of a few dozen samples repeats by
chance once it has arrived.

## References
- He and Garcia 2009, Learning from Imbalanced Data.
)";

/// How many different values a series takes, and how often the commonest; only where single values are known.
struct Values {
  std::size_t count = 0;
  std::size_t different = 0;
  std::size_t commonest = 0;
  double value = 0;
  bool starts_there = false;  ///< one of the first three values is the commonest
};

Values values_of(const signal::Curve& curve) {
  std::vector<double> sorted(curve.value);
  std::sort(sorted.begin(), sorted.end());
  Values told;
  told.count = sorted.size();
  constexpr double kAlike = 2e-6;  // relative: sums in single precision differ in their last digits
  const auto alike = [](double one, double other) { return std::abs(other - one) <= kAlike * std::abs(one); };
  for (auto at = sorted.begin(); at != sorted.end();) {
    const auto next = std::find_if(at, sorted.end(), [&](double value) { return !alike(*at, value); });
    ++told.different;
    if (const auto times = static_cast<std::size_t>(next - at); times > told.commonest) {
      told.commonest = times;
      told.value = *at;
    }
    at = next;
  }
  const auto first = curve.value.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, curve.size()));
  told.starts_there = std::any_of(curve.value.begin(), first, [&](double value) { return alike(told.value, value); });
  return told;
}

/// No better on training data either: its accuracy has not moved since the start.
bool training_answers_alike(const Patient& patient, double least) {
  constexpr std::size_t kFewest = 6;
  if (patient.training_quality().empty()) return false;
  const Reading& accuracy = patient.training_quality().front();
  const double unit = std::abs(accuracy.best) > 1.5 ? 100 : 1;
  return accuracy.size() >= kFewest && (accuracy.top - accuracy.best) / unit < least;
}

bool counts_positives(Measure measure) {
  return measure == Measure::f1 || measure == Measure::recall || measure == Measure::dice || measure == Measure::iou;
}

/// Nearly all is right because nearly all is background: what counts the rest never got far.
bool misses_positives(const Patient& patient, const SettingValues& settings) {
  const auto& casts = patient.roles().in(Role::validation_metric);
  return std::any_of(casts.begin(), casts.end(), [&](const Cast& cast) {
    const auto total = cast.series->summary().total();
    return !cast.guess.component && cast.guess.measure != Measure::recall && counts_positives(cast.guess.measure) &&
           total && static_cast<double>(total->count) >= settings["fewest_evaluations"] &&
           total->max < settings["missed"];
  });
}

std::optional<Observation> same_accuracy(const Patient& patient, const Reading& accuracy,
                                         const SettingValues& settings) {
  const Reading* loss = patient.validation() != nullptr ? patient.validation() : patient.training();
  if (loss == nullptr || accuracy.size() < settings["fewest_evaluations"]) return std::nullopt;
  const Values answers = values_of(accuracy.curve);
  const Values losses = values_of(loss->curve);
  const double shown = accuracy.shown(answers.value);
  const double share = shown > 1.5 ? shown / 100 : shown;
  const auto often = static_cast<double>(answers.commonest) / static_cast<double>(answers.count);
  const auto moves = static_cast<double>(losses.different) / static_cast<double>(losses.count);
  const double enough = settings[training_answers_alike(patient, settings["unmoved"]) ? "mostly" : "share"];
  if (!answers.starts_there || often < enough || moves < settings["share"]) return std::nullopt;
  if (!(share > 0) || (share >= settings["ceiling"] && !misses_positives(patient, settings))) return std::nullopt;
  Observation seen = observe(
      Severity::warning, confidence_of(static_cast<double>(answers.commonest) / settings["fewest_evaluations"] + 0.5),
      accuracy.first_step, accuracy.last_step,
      accuracy.name + " is " + number(shown) + " to the last digit in " + std::to_string(answers.commonest) + " of " +
          std::to_string(answers.count) + " evaluations while " + loss->name + " moves: one answer for all.");
  seen.qualifiers["seen-by"] = "accuracy";
  seen.evidence.push_back(evidence(accuracy.name, accuracy.first_step, accuracy.last_step, often, settings["share"],
                                   per_cent(often) + " of the evaluations are equal"));
  return seen;
}

std::optional<Observation> no_positives(const Series& series, const SettingValues& settings) {
  const Reading metric = read_series(series, false);
  std::size_t zeros = 0;
  while (zeros < metric.size() && metric.curve.high[metric.size() - 1 - zeros] == 0) ++zeros;
  const auto share = static_cast<double>(zeros) / static_cast<double>(metric.size());
  if (static_cast<double>(zeros) < settings["fewest_evaluations"] || share < settings["zero_share"])
    return std::nullopt;
  const std::int64_t since = metric.step_at(metric.size() - zeros);
  Observation seen =
      observe(Severity::warning, confidence_of(static_cast<double>(zeros) / settings["fewest_evaluations"] + 0.5),
              since, metric.last_step,
              metric.name + " is exactly zero since " + at_step(since) + ", " + std::to_string(zeros) +
                  " evaluations in a row: nothing positive is found.");
  seen.qualifiers["seen-by"] = "positives";
  seen.evidence.push_back(evidence(metric.name, since, metric.last_step, share, settings["zero_share"],
                                   per_cent(share) + " of the evaluations"));
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (lost_to_nonfinite(patient)) return NotChecked{"a loss is not a number any more: no answer means anything"};
  bool checked = false;
  const auto& casts = patient.roles().in(Role::validation_accuracy);
  for (const Reading& reading : patient.validation_quality()) {
    const bool accuracy = std::any_of(casts.begin(), casts.end(), [&](const Cast& cast) {
      return cast.series->name() == reading.name && cast.guess.measure == Measure::accuracy;
    });
    if (!accuracy || reading.size() < settings["fewest_evaluations"]) continue;
    checked = true;
    if (auto seen = same_accuracy(patient, reading, settings)) return std::move(*seen);
  }
  for (const Role role : {Role::validation_metric, Role::validation_accuracy}) {
    for (const Cast& cast : patient.roles().in(role)) {
      const auto total = cast.series->summary().total();
      if (cast.guess.component || !counts_positives(cast.guess.measure) || !total ||
          static_cast<double>(total->count) < settings["fewest_evaluations"]) {
        continue;
      }
      checked = true;
      if (auto seen = no_positives(*cast.series, settings)) return std::move(*seen);
    }
  }
  if (!checked) return NotChecked{"no validation accuracy, F1, recall, Dice or IoU with enough evaluations"};
  return NotFound{};
}

}  // namespace

Finding predicts_one_class() {
  return {
      .id = "predicts-one-class",
      .title = "The model gives one answer to everything",
      .needs = {Need::curve},
      .doc = kDoc,
      .settings = {{"fewest_evaluations", 8, "equal evaluations that are no chance"},
                   {"share", 0.9, "share of the evaluations that must be equal, and of the losses that must differ"},
                   {"mostly", 0.6, "the same where the training accuracy does not move either"},
                   {"unmoved", 0.03, "range of a training accuracy that does not move"},
                   {"zero_share", 0.4, "last share of the evaluations in which nothing positive is found"},
                   {"ceiling", 0.97, "accuracy from which on there is nowhere to go"},
                   {"missed", 0.5,
                    "F1, Dice or IoU that is never reached where such an accuracy is that of the background"}},
      .check = check,
      .judged_by = JudgedBy::loss};
}

}  // namespace osler::catalogue
