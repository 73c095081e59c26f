// validation-below-chance: the answers on validation data are worse than guessing.
#include <algorithm>
#include <cmath>

#include "diagnosis/accuracies.h"
#include "diagnosis/configured.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The model answers its training data well and its validation data worse than a guess would. Ignorance gives the accuracy of
chance; to be below it, knowledge must be turned against itself.

## Signature
The training accuracy lies `learned` times above chance, 1/C for C classes, while over the last half `share` of at least
`fewest_evaluations` evaluations lie below `below` of chance.

## Why it matters
The labels of one of the two sets are permuted, sorted in another order, or shifted by one. Overfitting alone ends at
chance, never below it.

## When it is harmless
A validation set that holds few classes, or by design those that the training set lacks, may lie below. Among many classes
learning by heart alone can end below chance, as it does before a model groks: above `most_classes` nothing is said.

## References
- Northcutt et al. 2021, Pervasive Label Errors in Test Sets Destabilize Machine Learning Benchmarks.
)";

const LossAndAccuracy* of_split(const std::vector<LossAndAccuracy>& pairs, std::string_view split) {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.split == split; });
  return found == pairs.end() ? nullptr : &*found;
}

/// The classes that the configuration tells, or that the very first loss and accuracy agree on; of several numbers the
/// largest, whose chance is the lowest. A loss alone does not tell: the mean over a first epoch lies anywhere below ln
/// C.
std::optional<int> agreed_classes(const Patient& patient, const LossAndAccuracy& training,
                                  const SettingValues& settings) {
  if (const auto told = configured_classes(patient)) return told;
  const double loss = training.loss->curve.value.front();
  const double accuracy = training.share(training.accuracy->curve.value.front());
  for (int classes = static_cast<int>(settings["most_classes"]); classes >= 2; --classes) {
    const bool by_loss = std::abs(loss / std::log(classes) - 1) < settings["agreement"];
    if (by_loss && std::abs(accuracy * classes - 1) < 3 * settings["agreement"]) return classes;
  }
  return std::nullopt;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const std::vector<LossAndAccuracy> pairs = losses_with_accuracy(patient);
  const LossAndAccuracy* training = of_split(pairs, "training");
  const LossAndAccuracy* validation = of_split(pairs, "validation");
  if (training == nullptr || validation == nullptr) {
    return NotChecked{"needs losses and accuracies of training and validation"};
  }
  const auto classes = agreed_classes(patient, *training, settings);
  if (!classes || *classes > settings["most_classes"]) return NotChecked{"the number of classes is unknown, or large"};
  const auto& values = validation->accuracy->curve.value;
  const auto half = std::span(values).last(values.size() / 2);
  if (static_cast<double>(values.size()) < settings["fewest_evaluations"]) {
    return NotChecked{"fewer than " + number(settings["fewest_evaluations"]) + " evaluations"};
  }
  const double chance = 1.0 / *classes;
  const double reached = training->best();
  const double limit = settings["below"] * chance;
  const auto below = static_cast<double>(
      std::count_if(half.begin(), half.end(), [&](double v) { return validation->share(v) < limit; }));
  const double share = below / static_cast<double>(half.size());
  if (reached < settings["learned"] * chance || share < settings["share"]) return NotFound{};
  const Reading& accuracy = *validation->accuracy;
  const double level = validation->share(signal::median(half));
  Observation seen = observe(Severity::critical, confidence_of(chance / std::max(level, chance / 4)),
                             accuracy.first_step, accuracy.last_step,
                             accuracy.name + " is " + per_cent(level) + ", worse than the " + per_cent(chance) +
                                 " of guessing, while training reached " + per_cent(reached) + ".");
  seen.qualifiers["classes"] = std::to_string(*classes);
  seen.evidence.push_back(evidence(accuracy.name, accuracy.first_step, accuracy.last_step, level, limit,
                                   per_cent(share) + " of the evaluations of the last half are below"));
  return seen;
}

}  // namespace

Finding validation_below_chance() {
  return {.id = "validation-below-chance",
          .title = "Validation is worse than guessing",
          .needs = {Need::curve},
          .doc = kDoc,
          .settings = {{"fewest_evaluations", 8, "evaluations below which a level means nothing"},
                       {"learned", 1.5, "training accuracy, in chances, that shows that something was learned"},
                       {"below", 0.8, "accuracy, in chances, that is worse than guessing even on a small set"},
                       {"agreement", 0.1,
                        "relative distance of the first loss from ln C; three times that of the accuracy from 1/C"},
                       {"most_classes", 20, "classes beyond which learning by heart falls below chance by itself"},
                       {"share", 0.9, "share of the evaluations of the last half that must lie there"}},
          .check = check,
          .judged_by = JudgedBy::loss};
}

}  // namespace osler::catalogue
