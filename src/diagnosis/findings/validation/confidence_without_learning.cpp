// confidence-without-learning: the loss falls, the accuracy knows nothing of it.
#include <algorithm>
#include <cmath>

#include "diagnosis/accuracies.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss falls a good way, and not one decision more comes out right: the model only changes how sure it is.

## Signature
From the first tenth of the run to its end the loss falls significantly, by at least `fall` of its level, while the
accuracy on the same data stays: its change is below `points` and twice its own noise, and its best smoothed value is no
more than `points` above its start; a gain of `resolution` would show above its noise; and no other metric of that data
improves by `other_share`. An accuracy above `saturated` has nowhere to go, one below `meaningless` was not
measured on classes; neither counts.

## Why it matters
The loss promises progress that does not exist. Usual reasons are a majority class that is always guessed, a penalty
that makes up most of the loss, an accuracy computed on the wrong output, or label smoothing.

## When it is harmless
Regression and reconstruction have no accuracy worth the name. Late in training the loss falls on while the accuracy is
already near its ceiling.

## References
- Guo et al. 2017, On Calibration of Modern Neural Networks.
- Muller, Kornblith, Hinton 2019, When Does Label Smoothing Help?
)";

/// The loss falls and the accuracy does not move, from the same step on.
struct Split {
  Movement loss;
  Movement accuracy;
  bool apart = false;
};

Split split_of(const LossAndAccuracy& pair, const SettingValues& settings) {
  Split split;
  const std::size_t skip = pair.loss->size() / 10;
  const double from = pair.loss->curve.step[skip];
  split.loss = movement_of(*pair.loss, skip, pair.loss->size());
  const std::size_t first = pair.accuracy->index_at(from);
  split.accuracy = movement_of(*pair.accuracy, first, pair.accuracy->size());
  const double level = std::max(std::abs(split.loss.from), pair.loss->level);
  const double points = settings["points"] * pair.unit;
  const double change = std::max(split.accuracy.fall(), 0.0);
  const double best_gain = pair.accuracy->improvement();
  const bool stays =
      change < std::max(points, 2 * split.accuracy.sigma) && best_gain < points + 3 * split.accuracy.sigma;
  const double error = split.accuracy.sigma / std::sqrt(std::max(1.0, static_cast<double>(split.accuracy.points) / 8));
  const bool seen = settings["standard_errors"] * error < settings["resolution"] * pair.unit;
  split.apart = split.loss.falls(settings["p_value"], settings["fall"] * level) && stays && seen;
  return split;
}

/// Another figure of the same data, such as AUC or F1, that improves shows that decisions do get better.
bool denied(const std::vector<Reading>& qualities, const LossAndAccuracy& pair, const SettingValues& settings) {
  return std::any_of(qualities.begin(), qualities.end(), [&](const Reading& other) {
    return &other != pair.accuracy && other.size() >= settings["fewest_points"] &&
           movement_of(other).falls(settings["p_value"], settings["other_share"] * other.level);
  });
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  bool checked = false;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (pair.loss->size() < settings["fewest_points"] || pair.accuracy->size() < settings["fewest_points"]) continue;
    checked = true;
    if (pair.best() > settings["saturated"] || pair.best() < settings["meaningless"]) continue;
    const Split split = split_of(pair, settings);
    const auto& qualities = pair.split == "validation" ? patient.validation_quality() : patient.training_quality();
    if (!split.apart || denied(qualities, pair, settings)) continue;
    const Reading& loss = *pair.loss;
    const double fallen = split.loss.fall() / std::max(std::abs(split.loss.from), loss.level);
    Observation seen =
        observe(Severity::warning, confidence_of(fallen / settings["fall"]), loss.first_step, loss.last_step,
                loss.name + " falls from " + number(split.loss.from) + " to " + number(split.loss.to) + ", while " +
                    pair.accuracy->name + " stays at " + number(pair.accuracy->shown(split.accuracy.to)) + ".");
    seen.qualifiers["split"] = pair.split;
    seen.evidence.push_back(evidence(loss.name, loss.first_step, loss.last_step, fallen, settings["fall"],
                                     "fell by " + per_cent(fallen) + " of its level"));
    seen.evidence.push_back(evidence(pair.accuracy->name, pair.accuracy->first_step, pair.accuracy->last_step,
                                     pair.share(split.accuracy.to) - pair.share(split.accuracy.from),
                                     settings["points"],
                                     "went from " + number(pair.accuracy->shown(split.accuracy.from)) + " to " +
                                         number(pair.accuracy->shown(split.accuracy.to))));
    return seen;
  }
  if (!checked) {
    return NotChecked{"no loss and accuracy of the same data with at least " + number(settings["fewest_points"]) +
                      " points each"};
  }
  return NotFound{};
}

}  // namespace

Finding confidence_without_learning() {
  return {"confidence-without-learning",
          "The loss falls while the accuracy stalls",
          {Need::curve},
          kDoc,
          {{"fewest_points", 8, "values of loss and accuracy needed to see them part"},
           {"fall", 0.2, "fall of the loss, as a share of its level, that should show in the accuracy"},
           {"p_value", 0.01, "significance of that fall"},
           {"points", 0.02, "gain in accuracy (share of all samples) that counts as none"},
           {"resolution", 0.05, "gain in accuracy that must be visible above its noise; small sets scatter more"},
           {"standard_errors", 3, "standard errors that make a gain visible"},
           {"other_share", 0.05, "gain of another metric, as a share of its level, that denies it"},
           {"saturated", 0.9, "accuracy above which there is little left to gain"},
           {"meaningless", 0.02, "accuracy below which it was not measured on classes, as in regression"}},
          check};
}

}  // namespace osler::catalogue
