// accuracy-outruns-loss: the accuracy rises while the loss stands still, which is fine.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "diagnosis/accuracies.h"
#include "diagnosis/evidence/chance.h"
#include "diagnosis/evidence/set_up.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The accuracy keeps rising although the loss no longer falls: decisions become right, without much confidence yet.

## Signature
Over the second half of the run the accuracy rises significantly, by at least `points` and twice its noise, while the
loss on the same data neither falls nor rises by more than `standing` of its level or twice its noise: a note. A warning
where most answers are right (`skilled`) and the loss, in units of ln(C), lies `excess` above the share of wrong answers:
at the floor of a softmax applied twice, or `far` above it without one. Or loss and accuracy add up to the same
number all along, as they do behind a softmax applied twice. Between two classes an area under the curve tells as much as the share of right answers.

## Why it matters
It is good news that the loss alone would hide: a stop on the loss would stop too early.

## When it is harmless
As a note always: the loss usually follows. Noisy or smoothed labels keep it up for good.

## References
- Guo et al. 2017, On Calibration of Modern Neural Networks.
)";

/// Softmax outputs lie between 0 and 1, so that a second softmax leaves at least this loss among C classes.
double twice_floor(int classes) {
  return std::log1p((classes - 1) / std::numbers::e);
}

/// The loss is far higher than its own accuracy allows. Between guessing (1) and perfection (0) a trained classifier's
/// loss, in units of ln C, comes down about as far as its wrong answers do; a softmax applied twice, smoothed or noisy
/// labels hold it up.
std::optional<Observation> held_up(const Patient& patient, const LossAndAccuracy& pair, const SettingValues& settings) {
  const auto classes = class_count(patient);
  if (!classes || *classes < 3 || pair.accuracy->curve.empty()) return std::nullopt;
  // Right from the first evaluation on, at a loss that has yet to fall: pairs are told apart, no classes learned.
  if (pair.share(pair.accuracy->start) > settings["at_once"]) return std::nullopt;
  // A loss that began at many times that of guessing is a sum, or came down from a wild start.
  if (pair.loss->start > settings["summed"] * std::log(*classes)) return std::nullopt;
  const double guess = 1.0 / *classes;
  const double skill = (pair.share(pair.accuracy->end) - guess) / (1 - guess);
  const double level = pair.loss->end / std::log(*classes);
  const double excess = level - (1 - skill);
  const double floor = twice_floor(*classes);
  const double expected = floor + 1 - pair.share(pair.accuracy->end);
  const bool twice = std::abs(pair.loss->end / expected - 1) < settings["beside"];
  if (skill < settings["skilled"] || level < settings["high"] || level > 1 || excess < settings["excess"] ||
      pair.loss->end > settings["risen"] * pair.loss->best) {
    return std::nullopt;
  }
  if (!twice && excess < settings["far"]) return std::nullopt;
  Observation seen = observe(
      Severity::warning, confidence_of(excess / settings["excess"]), pair.loss->first_step, pair.loss->last_step,
      pair.accuracy->name + " is " + per_cent(pair.share(pair.accuracy->end)) + ", but " + pair.loss->name +
          " stands at " + number(pair.loss->end) +
          (twice ? ", where a softmax applied twice would hold it." : ", far too high for that."));
  seen.qualifiers["split"] = pair.split;
  if (twice) seen.qualifiers["floor"] = "softmax-twice";
  seen.evidence.push_back(
      evidence(pair.loss->name, pair.loss->first_step, pair.loss->last_step, excess, settings["excess"],
               "the loss is at " + per_cent(level) + " of that of guessing among " + std::to_string(*classes) +
                   " classes, the wrong answers at " + per_cent(1 - skill)));
  return seen;
}

/// Behind two softmaxes a right answer costs the floor and a wrong one 1 more, whatever the confidence: loss and
/// accuracy add up to the same number from the first value to the last, and that number tells the classes, of which
/// the first loss is a guess. A cross-entropy falls two to three times as fast as its answers become right.
std::optional<Observation> adds_up(const Patient& patient, const LossAndAccuracy& pair, const SettingValues& settings) {
  const Reading& loss = *pair.loss;
  if (loss.size() < settings["fewest_evaluations"] || pair.accuracy->size() < settings["fewest_evaluations"] ||
      loss.negated || loss.start > settings["most_nats"] || loss.end > settings["risen"] * loss.best) {
    return std::nullopt;
  }
  const double right = pair.share(pair.accuracy->end);
  const double gained = right - pair.share(pair.accuracy->start);
  const double sum = loss.end + right;
  const double drift = sum - loss.start - pair.share(pair.accuracy->start);
  const double middle = loss.smoothed[loss.size() / 2];
  const std::size_t beside = pair.accuracy->index_at(loss.curve.step[loss.size() / 2]);
  const double halfway = sum - middle - pair.share(pair.accuracy->smoothed[beside]);
  const double floor = sum - 1;
  if (right < settings["mostly"] || gained < settings["gained"] || std::abs(drift) > settings["along"] * gained ||
      std::abs(halfway) > settings["halfway"] * gained || floor < settings["least_floor"]) {
    return std::nullopt;
  }
  // Before a classifier is sure of anything its answers become right as fast as its loss falls: it must have come to
  // rest.
  if (loss.smoothed[loss.size() * 2 / 3] - loss.end > settings["rests"] * (loss.start - loss.end)) return std::nullopt;
  const double classes = 1 + std::numbers::e * std::expm1(floor);
  const Reading& whole = patient.training() != nullptr ? *patient.training() : loss;
  const double opening = first_value(patient, whole) / std::log(classes);
  if (opening < settings["least_opening"] || opening > settings["most_opening"]) return std::nullopt;
  Observation seen = observe(Severity::warning, confidence_of(2), loss.first_step, loss.last_step,
                             loss.name + " and " + pair.accuracy->name + " add up to " + number(sum) +
                                 " all along, as behind a softmax applied twice: " + number(loss.end) + " beside " +
                                 per_cent(right) + " right answers.");
  seen.qualifiers["split"] = pair.split;
  seen.qualifiers["floor"] = "softmax-twice";
  seen.evidence.push_back(evidence(loss.name, loss.first_step, loss.last_step, drift, settings["along"] * gained,
                                   "the sum changed by " + number(drift) + " while the answers gained " +
                                       per_cent(gained) + "; it stands for " + number(std::round(classes)) +
                                       " classes"));
  return seen;
}

/// The same between two classes, told by how well they are ranked: a sigmoid applied twice leaves the order of the
/// answers and hides how sure they are.
std::optional<Observation> ranked_but_unsure(const Patient& patient, const SettingValues& settings) {
  const double guess = std::log(2);
  if (loss_without_logarithm(patient)) return std::nullopt;
  for (const auto& [loss, role] :
       {std::pair{patient.validation(), Role::validation_metric}, std::pair{patient.training(), Role::train_metric}}) {
    if (loss == nullptr || loss->negated || loss->size() < settings["fewest_evaluations"]) continue;
    for (const Cast& cast : patient.roles().in(role)) {
      if (cast.guess.measure != Measure::auc || cast.guess.component) continue;
      const Reading area = read_series(*cast.series, true);
      if (area.size() < settings["fewest_evaluations"]) continue;
      const double ranked = area.shown(area.end) / (area.shown(area.best) > 1.5 ? 100 : 1);
      const double skill = 2 * ranked - 1;
      const double excess = loss->end / guess - (1 - skill);
      if (skill < settings["skilled"] || loss->end > guess || excess < settings["ranked"] ||
          loss->end > settings["risen"] * loss->best) {
        continue;
      }
      Observation seen = observe(
          Severity::warning, confidence_of(excess / settings["ranked"] + 0.5), loss->first_step, loss->last_step,
          area.name + " is " + number(area.shown(area.end)) + ", but " + loss->name + " stands at " +
              number(loss->end) + ": guessing between two classes costs " + number(guess) + ".");
      seen.qualifiers["floor"] = "sigmoid-twice";
      seen.evidence.push_back(evidence(loss->name, loss->first_step, loss->last_step, excess, settings["ranked"],
                                       "the loss is at " + per_cent(loss->end / guess) +
                                           " of that of guessing, the ranking " + per_cent(skill) +
                                           " of the way to perfection"));
      return seen;
    }
  }
  return std::nullopt;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  if (auto seen = ranked_but_unsure(patient, settings)) return std::move(*seen);
  bool checked = false;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (pair.loss->size() < settings["fewest_points"] || pair.accuracy->size() < settings["fewest_points"]) continue;
    checked = true;
    if (auto seen = held_up(patient, pair, settings)) return std::move(*seen);
    if (auto seen = adds_up(patient, pair, settings)) return std::move(*seen);
    const Reading& loss = *pair.loss;
    const std::size_t half = loss.size() / 2;
    const Movement still = movement_of(loss, half, loss.size());
    const Movement rise =
        movement_of(*pair.accuracy, pair.accuracy->index_at(loss.curve.step[half]), pair.accuracy->size());
    const bool stands = std::abs(still.fall()) < std::max(settings["standing"] * std::abs(still.from), 2 * still.sigma);
    if (!stands || !rise.falls(settings["p_value"], settings["points"] * pair.unit)) continue;
    const double points = rise.fall() / pair.unit;
    Observation seen =
        observe(Severity::note, confidence_of(points / settings["points"]), loss.step_at(half), loss.last_step,
                pair.accuracy->name + " rises from " + number(pair.accuracy->shown(rise.from)) + " to " +
                    number(pair.accuracy->shown(rise.to)) + " while " + loss.name + " stands at " + number(still.to) +
                    ": harmless.");
    seen.qualifiers["split"] = pair.split;
    seen.evidence.push_back(evidence(pair.accuracy->name, loss.step_at(half), pair.accuracy->last_step, points,
                                     settings["points"], "gained " + per_cent(points) + " in the second half"));
    return seen;
  }
  if (!checked) {
    return NotChecked{"no loss and accuracy of the same data with at least " + number(settings["fewest_points"]) +
                      " points each"};
  }
  return NotFound{};
}

}  // namespace

Finding accuracy_outruns_loss() {
  return {
      "accuracy-outruns-loss",
      "The accuracy rises while the loss stands still",
      {Need::curve},
      kDoc,
      {{"summed", 4, "first loss, in units of ln(C), from which on it is no mean of cross-entropies"},
       {"skilled", 0.7, "share of the way from guessing to perfection of a model that knows its answers"},
       {"at_once", 0.9, "first accuracy of a task that needs no training to be solved"},
       {"high", 0.45, "loss in units of ln(C) below which nothing holds it up"},
       {"excess", 0.36,
        "distance of the loss above the wrong answers, both between guessing and perfection; 98 in 100 healthy runs "
        "of the population stay below 0.31"},
       {"risen", 1.15, "times its best above which the loss has risen, which is overconfidence"},
       {"far", 0.65, "the same where nothing names the floor"},
       {"ranked", 0.6,
        "the same where an area under the curve tells what is known; healthy runs of the population stay below 0.45"},
       {"most_nats", 7, "first loss, in nats, beyond which it is no guess among a number of classes"},
       {"mostly", 0.5,
        "share of right answers below which a model is sure of none, and its loss falls as slowly as they come"},
       {"gained", 0.1, "gain in right answers over which loss and accuracy must add up"},
       {"along", 0.2, "change of their sum, as a share of that gain; a cross-entropy changes it by more than 1"},
       {"rests", 0.25, "share of its fall that such a loss may still fall over the last third"},
       {"halfway", 0.15, "the same from the middle of the run on"},
       {"least_floor", 0.5, "least floor, in nats: three classes have 0.55, and a hinge or a square none"},
       {"least_opening", 0.85, "first loss, in units of the guess that the sum tells, of a mean over the first epoch"},
       {"most_opening", 1.05, "the same of a first step"},
       {"fewest_evaluations", 6, "values of such an area and of the loss needed"},
       {"beside", 0.02, "relative distance from the floor of a softmax that is applied twice"},
       {"fewest_points", 10, "values of loss and accuracy needed to see them part"},
       {"p_value", 0.01, "significance of the rise"},
       {"points", 0.03, "gain in accuracy (share of all samples) that is worth a word"},
       {"standing", 0.02, "change of the loss, as a share of its level, that counts as standing"}},
      check};
}

}  // namespace osler::catalogue
