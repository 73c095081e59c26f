// underfitting: both losses flatten early, high, and close together.
#include <algorithm>
#include <cmath>

#include "diagnosis/flatness.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The model cannot represent, or is not allowed to learn, what is in the data: training and validation stop improving
together at a level that is still high.

## Signature
Training and validation loss are both flat over the last `flat_share` of the run, lie within `gap_share` of each other,
and training gained less than `gain_share` of its first level. A warning when the accuracy shows that the level is poor
(below `poor_accuracy`); otherwise a note, because a loss by itself does not tell how low it could go.

## Why it matters
More time and more data will not help; capacity, less regularisation, or better features will.

## When it is harmless
Tasks with a high irreducible loss (language, noisy labels) flatten at a level that looks high and is not.

## References
- Goodfellow, Bengio, Courville 2016, Deep Learning, section 5.2.
- Kaplan et al. 2020, Scaling Laws for Neural Language Models: loss as a power law of size.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr || patient.reinforcement()) {
    return NotChecked{"needs a training and a validation loss"};
  }
  if (training->size() < settings["fewest_points"] || validation->size() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " points"};
  }
  const Flatness flat_training = flatness_of(*training);
  const Flatness flat_validation = flatness_of(*validation);
  const bool flat = flat_training.share > settings["flat_share"] && flat_validation.share > settings["flat_share"];
  const double level = std::max(std::abs(training->end), 1e-300);
  const double gap = (validation->end - training->end) / level;
  const double gain = training->start > 0 ? training->improvement() / training->start : 0;
  if (!flat || std::abs(gap) > settings["gap_share"] || gain > settings["gain_share"] ||
      gain < settings["least_gain"]) {
    return NotFound{};
  }
  const auto accuracy = patient.best_accuracy();
  if (accuracy && *accuracy > settings["poor_accuracy"]) return NotFound{};
  const std::int64_t since =
      std::min(training->step_at(flat_training.since), validation->step_at(flat_validation.since));
  Observation seen =
      observe(accuracy ? Severity::warning : Severity::note,
              confidence_of(settings["gap_share"] / std::max(std::abs(gap), 0.02)), since, training->last_step,
              "Training and validation loss are both flat since " + at_step(since) +
                  ", high and close: " + number(training->end) + " and " + number(validation->end) + ".");
  seen.evidence.push_back(evidence(training->name, since, training->last_step, gain, settings["gain_share"],
                                   "gained " + per_cent(gain) + " of its first level"));
  if (accuracy) {
    seen.evidence.push_back(evidence(validation->name, since, validation->last_step, *accuracy,
                                     settings["poor_accuracy"], "the best accuracy is " + per_cent(*accuracy)));
  }
  return seen;
}

}  // namespace

Finding underfitting() {
  return {"underfitting",
          "Both losses are flat, high and close together",
          {Need::curve},
          kDoc,
          {{"fewest_points", 8, "points each loss needs"},
           {"flat_share", 0.35, "last share of the run over which both must be flat"},
           {"gap_share", 0.15, "distance between the losses, as a share of the level"},
           {"gain_share", 0.5, "share of its first level that training must not have gained"},
           {"least_gain", 0.02, "below this nothing was learned at all: that is loss-stuck-from-start"},
           {"poor_accuracy", 0.6, "accuracy below which the level counts as poor"}},
          check};
}

}  // namespace osler::catalogue
