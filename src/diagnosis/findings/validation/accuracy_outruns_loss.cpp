// accuracy-outruns-loss: the accuracy rises while the loss stands still, which is fine.
#include <algorithm>
#include <cmath>

#include "diagnosis/accuracies.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The accuracy keeps rising although the loss no longer falls: decisions become right, without much confidence yet.

## Signature
Over the second half of the run the accuracy rises significantly, by at least `points` and twice its noise, while the
loss on the same data neither falls nor rises by more than `standing` of its level or twice its noise.

## Why it matters
It is good news that the loss alone would hide: a stop on the loss would stop too early.

## When it is harmless
Always; this is only ever a note. The loss usually follows. Noisy or smoothed labels keep it up for good.

## References
- Guo et al. 2017, On Calibration of Modern Neural Networks.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  bool checked = false;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (pair.loss->size() < settings["fewest_points"] || pair.accuracy->size() < settings["fewest_points"]) continue;
    checked = true;
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
  return {"accuracy-outruns-loss",
          "The accuracy rises while the loss stands still",
          {Need::curve},
          kDoc,
          {{"fewest_points", 10, "values of loss and accuracy needed to see them part"},
           {"p_value", 0.01, "significance of the rise"},
           {"points", 0.03, "gain in accuracy (share of all samples) that is worth a word"},
           {"standing", 0.02, "change of the loss, as a share of its level, that counts as standing"}},
          check};
}

}  // namespace osler::catalogue
