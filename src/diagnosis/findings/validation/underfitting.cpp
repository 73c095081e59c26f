// underfitting: both losses flatten early, high, and close together.
#include <algorithm>
#include <cmath>

#include "diagnosis/facts.h"
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
training does not fall on alone (`goes_on`), and gained less than `gain_share` of its first level. A warning when the
accuracy shows that the level is poor (below `poor_accuracy`). A note when the accuracy is only little above guessing
(`poor_share`), when there is none, since a loss by itself does not tell how low it could go, and among more than
`many_classes` classes, such as the next character of a text.

## Why it matters
More time and more data will not help; capacity, less regularisation, or better features will.

## When it is harmless
Tasks with a high irreducible loss (language, noisy labels) flatten at a level that looks high and is not.

## References
- Goodfellow, Bengio, Courville 2016, Deep Learning, section 5.2.
- Kaplan et al. 2020, Scaling Laws for Neural Language Models: loss as a power law of size.
)";

/// Of the answers that guessing leaves wrong the model gets less than `share` right: 0.65 among two classes is poor.
bool little_above_guessing(const Patient& patient, double accuracy, double share) {
  const auto classes = known_classes(patient);
  if (!classes) return false;
  const double guess = 1.0 / *classes;
  return (accuracy - guess) / (1 - guess) < share;
}

/// Training falls on since `step` and validation does not follow, which is another matter than underfitting.
bool parts(const Reading& training, const Reading& validation, double step, const SettingValues& settings) {
  const auto trend_since = [&](const Reading& reading) {
    const std::size_t from = reading.index_at(step);
    return signal::trend_of(std::span(reading.curve.step).subspan(from), std::span(reading.curve.value).subspan(from));
  };
  constexpr double kFollows = 1.0 / 3;  // of what training falls
  const signal::Trend of_training = trend_since(training);
  return of_training.falls(settings["p_value"]) &&
         -of_training.change > settings["goes_on"] * (training.top - training.best) &&
         -trend_since(validation).change < kFollows * -of_training.change;
}

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
  const Flatness flat_validation = flatness_of(*validation, settings["creep"]);
  const bool flat = flat_training.share > settings["flat_share"] && flat_validation.share > settings["flat_share"];
  if (!flat || parts(*training, *validation, validation->curve.step[flat_validation.since], settings)) {
    return NotFound{};
  }
  const double level = std::max(std::abs(training->end), 1e-300);
  const double gap = (validation->end - training->end) / level;
  const double gain = training->start > 0 ? training->improvement() / training->start : 0;
  if (std::abs(gap) > settings["gap_share"] || gain > settings["gain_share"] || gain < settings["least_gain"]) {
    return NotFound{};
  }
  const auto accuracy = patient.best_accuracy();
  const bool poor = accuracy && *accuracy <= settings["poor_accuracy"];
  if (accuracy && !poor && !little_above_guessing(patient, *accuracy, settings["poor_share"])) return NotFound{};
  const std::int64_t since =
      std::min(training->step_at(flat_training.since), validation->step_at(flat_validation.since));
  const bool many = known_classes(patient).value_or(0) > settings["many_classes"];
  Observation seen =
      observe(poor && !many ? Severity::warning : Severity::note,
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
  return {
      "underfitting",
      "Both losses are flat, high and close together",
      {Need::curve},
      kDoc,
      {{"fewest_points", 8, "points each loss needs"},
       {"flat_share", 0.35, "last share of the run over which both must be flat"},
       {"creep", 0.08, "share of all its gain that validation, which has little noise, may still gain over that"},
       {"gap_share", 0.15, "distance between the losses, as a share of the level"},
       {"gain_share", 0.5, "share of its first level that training must not have gained"},
       {"least_gain", 0.02, "below this nothing was learned at all: that is loss-stuck-from-start"},
       {"poor_accuracy", 0.6, "accuracy below which the level counts as poor"},
       {"goes_on", 0.02, "share of its gain that training may still gain over that stretch"},
       {"p_value", 0.01, "significance of that gain"},
       {"poor_share", 0.4, "share of the answers that guessing leaves wrong below which the accuracy is worth a note"},
       {"many_classes", 20, "classes above which a low accuracy may be a good one"}},
      check};
}

}  // namespace osler::catalogue
