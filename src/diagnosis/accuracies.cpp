// Finding the accuracy that belongs to a loss.
#include "diagnosis/accuracies.h"

#include <algorithm>

namespace osler {
namespace {

const Reading* accuracy_among(const std::vector<Reading>& qualities, const std::vector<Cast>& casts) {
  for (const Cast& cast : casts) {
    if (cast.guess.component) continue;
    for (const Reading& quality : qualities) {
      if (quality.name == cast.series->name() && !quality.curve.empty()) return &quality;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<LossAndAccuracy> losses_with_accuracy(const Patient& patient) {
  std::vector<LossAndAccuracy> pairs;
  const auto add = [&](const Reading* loss, const Reading* accuracy, std::string_view split) {
    if (loss == nullptr || accuracy == nullptr || loss->curve.empty()) return;
    // A share cannot exceed 1 by more than rounding; what does is in per cent.
    constexpr double kBeyondAnyShare = 1.5;
    const double highest = accuracy->negated
                               ? -*std::min_element(accuracy->curve.low.begin(), accuracy->curve.low.end())
                               : *std::max_element(accuracy->curve.high.begin(), accuracy->curve.high.end());
    pairs.push_back({loss, accuracy, highest > kBeyondAnyShare ? 100.0 : 1.0, split});
  };
  add(patient.validation(), accuracy_among(patient.validation_quality(), patient.roles().in(Role::validation_accuracy)),
      "validation");
  if (!patient.reinforcement()) {
    add(patient.training(), accuracy_among(patient.training_quality(), patient.roles().in(Role::train_accuracy)),
        "training");
  }
  return pairs;
}

std::optional<int> training_guesses(const Patient& patient) {
  constexpr double kTolerance = 0.04;  // of ln C
  constexpr double kLeast = 0.6;       // of 1 / C: an accuracy as of guessing
  constexpr double kMost = 1.5;
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (pair.loss != patient.training() || pair.accuracy->curve.empty() || pair.loss->curve.empty()) continue;
    const auto classes = chance_classes(pair.loss->end, kTolerance);
    if (!classes) return std::nullopt;
    const double hits = *classes * pair.share(pair.accuracy->end);
    return hits > kLeast && hits < kMost ? classes : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace osler
