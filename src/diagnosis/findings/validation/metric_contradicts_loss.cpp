// metric-contradicts-loss: the validation loss gets better, the validation metric worse.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "diagnosis/accuracies.h"
#include "diagnosis/configured.h"
#include "diagnosis/evidence/chance.h"
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The validation loss improves, and what is measured on the same data by accuracy, F1, BLEU or the like gets worse.

## Signature
The validation loss falls significantly over the run, by at least `loss_share` of its level, and ends within `near_best`
of its best. The leading metric gets worse significantly, by `metric_share` of its level, and ends worse than it began;
no other logged metric of validation gets better. An area under the curve that falls clearly below that of guessing while
the loss improves contradicts it as well: the answers are right and read the wrong way round. So does R2 that was never
above 0, or a low accuracy that has not risen since its first values, beside a loss that fell to `fallen` of its start;
and an accuracy of less than `of_expected` of exp(-loss), where that of training is as its own loss says.

## Why it matters
One of the two is wrong: the metric is computed on the wrong output, with a wrong threshold or mapping of labels, or the
loss rewards something other than the task.

## When it is harmless
A loss that rises while the metric improves is the ordinary case of growing confidence, and is not meant here. A penalty
inside the loss may fall while the rest does not. Precision may fall because recall rises.

## References
- Karpathy 2019, A Recipe for Training Neural Networks: verify every figure from scratch.
)";

/// A sample answered wrongly gives its right class less than a half, so its cross-entropy is at least ln 2: the mean
/// loss bounds the share of wrong answers. An accuracy below that bound was not computed from the same outputs.
std::optional<Observation> impossible_accuracy(const Patient& patient, const SettingValues& settings) {
  const auto classes = class_count(patient);
  const Reading* training = patient.training();
  if (!classes || *classes < 2 || training == nullptr || training->negated || training->curve.empty()) return {};
  // What starts far from the loss of guessing is no plain cross-entropy.
  const double guess = std::log(*classes);
  if (std::abs(training->opening / guess - 1) > settings["from_guess"]) return {};
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (pair.loss->size() < settings["fewest_pairs"] || pair.accuracy->size() < settings["fewest_pairs"] ||
        !(pair.loss->end > 0) || pair.loss->nonfinite > 0) {
      continue;
    }
    const double least = 1 - pair.loss->end / std::numbers::ln2;
    const double accuracy = pair.share(pair.accuracy->end);
    if (least - accuracy < settings["impossible"]) continue;
    const Reading& loss = *pair.loss;
    Observation seen = observe(
        Severity::warning, confidence_of((least - accuracy) / settings["impossible"]), loss.first_step, loss.last_step,
        pair.accuracy->name + " is " + number(pair.accuracy->shown(pair.accuracy->end)) + ", but " + loss.name +
            " of " + number(loss.end) + " allows no less than " + per_cent(least) + " right answers.");
    seen.evidence.push_back(evidence(pair.accuracy->name, loss.first_step, loss.last_step, accuracy, least,
                                     "every wrong answer costs at least ln 2 = 0.69 of loss"));
    seen.qualifiers["kind"] = "impossible";
    return seen;
  }
  return {};
}

/// Validation answers are right far less often than their loss gives probability to right ones: at least exp(-loss) on
/// average, and one that knows how sure it may be is right as often. That the loss is one of probabilities shows in
/// training, whose answers are as its own loss says.
std::optional<Observation> seldomer_than_expected(const Patient& patient, const SettingValues& settings) {
  const LossAndAccuracy* training = nullptr;
  const LossAndAccuracy* validation = nullptr;
  const std::vector<LossAndAccuracy> pairs = losses_with_accuracy(patient);
  for (const LossAndAccuracy& pair : pairs) (pair.split == "training" ? training : validation) = &pair;
  if (training == nullptr || validation == nullptr || validation->loss->nonfinite > 0) return {};
  for (const LossAndAccuracy* pair : {training, validation}) {
    if (pair->loss->size() < settings["fewest_points"] || pair->accuracy->size() < settings["fewest_points"] ||
        pair->loss->negated || !(pair->loss->end > 0)) {
      return {};
    }
  }
  const double taught = training->share(training->accuracy->end);
  const double right = validation->share(validation->accuracy->best);
  const double expected = std::exp(-validation->loss->end);
  if (taught < std::exp(-training->loss->end) || right > settings["of_expected"] * expected) return {};
  const Reading& loss = *validation->loss;
  Observation seen =
      observe(Severity::warning, confidence_of(expected / std::max(right, 0.01)), loss.first_step, loss.last_step,
              validation->accuracy->name + " is " + number(validation->accuracy->shown(validation->accuracy->best)) +
                  " at best, but " + loss.name + " of " + number(loss.end) + " gives " + per_cent(expected) +
                  " to right answers, and training is right in " + per_cent(taught) + ".");
  seen.evidence.push_back(evidence(validation->accuracy->name, loss.first_step, loss.last_step, right,
                                   settings["of_expected"] * expected,
                                   "the mean probability of right answers is at least exp(-loss)"));
  seen.qualifiers["kind"] = "impossible";
  return seen;
}

/// The loss says that the classes are told apart, the area under the curve that they are told apart the wrong way
/// round.
std::optional<Observation> turned_round(const Patient& patient) {
  const auto words = worse_than_guessing(patient);
  if (!words) return {};
  const Reading& loss = *patient.training();
  Observation seen = observe(Severity::warning, confidence_of(2), loss.first_step, loss.last_step, *words + ".");
  seen.evidence.push_back(evidence(loss.name, loss.first_step, loss.last_step, loss.end, loss.start,
                                   "fell from " + number(loss.start) + " to " + number(loss.end)));
  seen.qualifiers["kind"] = "turned-round";
  return seen;
}

/// The loss of the same data falls to a part of what it was, and the figure stays at that of a model which knows
/// nothing.
std::optional<Observation> unmoved(const Patient& patient, const SettingValues& settings) {
  const auto figure = unlearned(patient);
  const Reading* loss = figure && figure->validation ? patient.validation() : patient.training();
  if (!figure || figure->follows || loss == nullptr || loss->negated || !(loss->start > 0) || loss->nonfinite > 0 ||
      figure->agrees(*loss) || loss->end > settings["fallen"] * loss->start || loss->end < 0) {
    return {};
  }
  Observation seen = observe(Severity::warning, confidence_of(2), loss->first_step, loss->last_step,
                             loss->name + " falls from " + number(loss->start) + " to " + number(loss->end) + ", but " +
                                 figure->series + " is " + number(figure->figure) + " at best, " + figure->words + ".");
  seen.evidence.push_back(evidence(figure->series, figure->first_step, figure->last_step, figure->figure, figure->limit,
                                   "it was never above " + number(figure->limit)));
  seen.qualifiers["kind"] = "unmoved";
  return seen;
}

/// A dozen evaluations that follow one another in order say it as surely as many that scatter, though their dependence
/// on each other takes the significance from them.
bool falls_surely(const Movement& movement, double least, const SettingValues& settings) {
  return movement.falls(settings["p_value"], least) ||
         (movement.trend.tau < -settings["in_order"] && movement.falls(settings["p_of_order"], least));
}

bool rises_surely(const Movement& movement, double least, const SettingValues& settings) {
  return movement.rises(settings["p_value"], least) ||
         (movement.trend.tau > settings["in_order"] && movement.rises(settings["p_of_order"], least));
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (auto seen = turned_round(patient)) return std::move(*seen);
  if (auto seen = impossible_accuracy(patient, settings)) return std::move(*seen);
  if (auto seen = seldomer_than_expected(patient, settings)) return std::move(*seen);
  if (auto seen = unmoved(patient, settings)) return std::move(*seen);
  const Reading* loss = patient.validation();
  std::vector<const Reading*> metrics;
  for (const Reading& quality : patient.validation_quality()) {
    if (quality.size() >= settings["fewest_points"]) metrics.push_back(&quality);
  }
  if (loss == nullptr || loss->size() < settings["fewest_points"] || metrics.empty()) {
    return NotChecked{"no validation loss and metric with at least " + number(settings["fewest_points"]) +
                      " evaluations each"};
  }
  const Movement better = movement_of(*loss);
  const double gain = loss->improvement();
  const bool good = falls_surely(better, settings["loss_share"] * loss->level, settings) &&
                    loss->end - loss->best < settings["near_best"] * gain;
  if (!good) return NotFound{};

  const Reading& leading = *metrics.front();
  const Movement worse = movement_of(leading);
  const double lost = -worse.fall();
  const bool bad =
      rises_surely(worse, settings["metric_share"] * leading.level, settings) && leading.end > leading.start;
  const bool denied = std::any_of(metrics.begin() + 1, metrics.end(), [&](const Reading* other) {
    return movement_of(*other).falls(settings["p_value"], settings["other_share"] * other->level);
  });
  if (!bad || denied) return NotFound{};

  const double margin = lost / (settings["metric_share"] * leading.level);
  Observation seen = observe(Severity::warning, confidence_of(margin), loss->first_step, loss->last_step,
                             loss->name + " improves from " + number(better.from) + " to " + number(better.to) +
                                 ", but " + leading.name + " gets worse, from " + number(leading.shown(worse.from)) +
                                 " to " + number(leading.shown(worse.to)) + ".");
  seen.evidence.push_back(evidence(loss->name, loss->first_step, loss->last_step, better.to, better.from,
                                   "fell by " + per_cent(better.fall() / loss->level) + " of its level"));
  seen.evidence.push_back(
      evidence(leading.name, leading.first_step, leading.last_step, leading.shown(worse.to), leading.shown(worse.from),
               "lost " + per_cent(lost / leading.level) + " of its level, p " + number(worse.trend.p_value)));
  return seen;
}

}  // namespace

Finding metric_contradicts_loss() {
  return {"metric-contradicts-loss",
          "The validation loss improves while the metric gets worse",
          {Need::curve},
          kDoc,
          {{"fewest_points", 8, "evaluations needed to see two trends"},
           {"fewest_pairs", 3, "values of a loss and an accuracy that contradict each other by arithmetic"},
           {"p_value", 0.001, "significance of both trends; two of them must hold at once"},
           {"of_expected", 0.55, "share of exp(-loss) that fewer answers are right than"},
           {"in_order", 0.9, "Kendall's tau of evaluations of which hardly a pair is out of order"},
           {"p_of_order", 0.05, "significance of both trends in that case"},
           {"loss_share", 0.1, "fall of the loss, as a share of its level, that should show in a metric"},
           {"near_best", 0.25, "share of the gain that the loss may have given back and still be good"},
           {"metric_share", 0.15, "loss of the metric, as a share of its level, that matters"},
           {"impossible", 0.15, "share of right answers by which a metric may lie below what the loss allows"},
           {"from_guess", 0.25, "distance of the first loss from ln(C) up to which it is a cross-entropy"},
           {"fallen", 0.6, "share of its start to which a loss has fallen that should show in every metric"},
           {"other_share", 0.05, "gain of another metric, as a share of its level, that denies it"}},
          check,
          JudgedBy::loss};
}

}  // namespace osler::catalogue
