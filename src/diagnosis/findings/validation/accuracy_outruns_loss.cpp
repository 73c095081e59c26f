// accuracy-outruns-loss: the accuracy rises while the loss stands still, which is fine.
#include <algorithm>
#include <cmath>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "diagnosis/accuracies.h"
#include "diagnosis/evidence/chance.h"
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
at the floor of a softmax applied twice, or `far` above it without one.

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
  const double guess = 1.0 / *classes;
  const double skill = (pair.share(pair.accuracy->end) - guess) / (1 - guess);
  const double level = pair.loss->end / std::log(*classes);
  const double excess = level - (1 - skill);
  if (skill < settings["skilled"] || level < settings["high"] || level > 1 || excess < settings["excess"] ||
      pair.loss->end > settings["risen"] * pair.loss->best)
    return std::nullopt;
  const double floor = twice_floor(*classes);
  const double expected = floor + 1 - pair.share(pair.accuracy->end);
  const bool twice = std::abs(pair.loss->end / expected - 1) < settings["beside"];
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

Verdict check(const Patient& patient, const SettingValues& settings) {
  bool checked = false;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (pair.loss->size() < settings["fewest_points"] || pair.accuracy->size() < settings["fewest_points"]) continue;
    checked = true;
    if (auto seen = held_up(patient, pair, settings)) return std::move(*seen);
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
      {{"skilled", 0.7, "share of the way from guessing to perfection of a model that knows its answers"},
       {"at_once", 0.9, "first accuracy of a task that needs no training to be solved"},
       {"high", 0.45, "loss in units of ln(C) below which nothing holds it up"},
       {"excess", 0.36,
        "distance of the loss above the wrong answers, both between guessing and perfection; 98 in 100 healthy runs "
        "of the population stay below 0.31"},
       {"risen", 1.15, "times its best above which the loss has risen, which is overconfidence"},
       {"far", 0.65, "the same where nothing names the floor"},
       {"beside", 0.02, "relative distance from the floor of a softmax that is applied twice"},
       {"fewest_points", 10, "values of loss and accuracy needed to see them part"},
       {"p_value", 0.01, "significance of the rise"},
       {"points", 0.03, "gain in accuracy (share of all samples) that is worth a word"},
       {"standing", 0.02, "change of the loss, as a share of its level, that counts as standing"}},
      check};
}

}  // namespace osler::catalogue
