// Lays the validation loss beside that of the untrained network.
#include "diagnosis/evidence/carry_over.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnosis/evidence/chance.h"
#include "diagnosis/wording.h"
#include "signal/robust.h"

namespace osler {

bool CarryOver::followed() const {
  return best < 0.7 * untrained;
}

bool CarryOver::never() const {
  return best > 0.9 * untrained;
}

bool CarryOver::beyond() const {
  return best > 1.5 * untrained;
}

bool CarryOver::by_heart() const {
  return learned < 0.05 * untrained;
}

bool CarryOver::guesses() const {
  return skill < 0.1;
}

bool CarryOver::answers() const {
  return skill > 0.4;
}

std::optional<CarryOver> carry_over(const Patient& patient) {
  constexpr std::size_t kFewest = 3;
  constexpr double kLearned = 0.2;  // of the first loss
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr || patient.reinforcement() || training->size() < kFewest ||
      validation->size() < kFewest || training->negated || validation->negated || !(training->start > 0)) {
    return std::nullopt;
  }
  if (training->end < 0 || training->start - training->end < kLearned * training->start) return std::nullopt;
  double untrained = std::max(training->start, training->curve.value.front());
  // A log that begins late does not show the untrained network; guessing is what it did.
  if (const auto classes = class_count(patient); classes && *classes > 1) {
    untrained = std::max(untrained, std::log(static_cast<double>(*classes)));
  }
  CarryOver found{untrained, training->end, validation->best, std::numeric_limits<double>::quiet_NaN()};
  if (patient.validation_quality().empty()) return found;
  if (const auto best = skill(patient)) found.skill = best->share;
  return found;
}

void weigh_carry_over(const Patient& patient, const CarryOverWeights& weights, std::vector<Clue>& clues) {
  const auto seen = carry_over(patient);
  if (!seen) return;
  const auto add = [&](bool holds, double weight, std::string text) {
    if (holds && weight != 0) clues.push_back({weight, std::move(text)});
  };
  const std::string low = patient.validation()->name + " is " + number(seen->best) + " at its best";
  add(seen->never(), weights.never,
      low + ", no better than the untrained network's " + number(seen->untrained) + ": it never followed training");
  add(seen->beyond(), weights.beyond,
      low + ", far beyond the " + number(seen->untrained) + " of the untrained network");
  add(seen->never() && seen->by_heart(), weights.by_heart,
      "the training loss is down to " + number(seen->learned) + ": the samples are known by heart");
  add(seen->guesses(), weights.guesses, "the answers on validation data are never better than guesses");
  add(seen->never() && seen->answers(), weights.answers,
      "the answers on validation data are good, only their loss is not");
  add(seen->followed(), weights.followed,
      patient.validation()->name + " came down to " + number(seen->best) + " with training");
}

std::optional<std::string> training_held_up(const Patient& patient) {
  constexpr std::size_t kFewest = 3;
  constexpr double kClearly = 0.7;
  constexpr double kSameUnit = 0.15;  // below this the two are not averaged alike
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr || training->size() < kFewest || validation->size() < kFewest ||
      training->negated || patient.reinforcement()) {
    return std::nullopt;
  }
  const double here = signal::median(training->curve.value);
  const double there = signal::median(validation->curve.value);
  if (!(there > kSameUnit * here) || !(there < kClearly * here)) return std::nullopt;
  return training->name + " is " + number(here) + " in the median and " + validation->name + " " + number(there) +
         ": something weighs on training alone";
}

}  // namespace osler
