// Arithmetic between a cross-entropy and its accuracy.
#include "diagnosis/evidence/loss_bounds.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "diagnosis/accuracies.h"
#include "diagnosis/evidence/chance.h"
#include "diagnosis/facts.h"
#include "diagnosis/wording.h"

namespace osler {
namespace {

constexpr std::size_t kFewest = 3;

/// Some logs divide one of their losses by the batch once more: then it is in no unit that could be compared.
bool same_unit(const Patient& patient) {
  constexpr double kApart = 3.5;
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr || training->curve.empty() || validation->curve.empty()) return true;
  return validation->end < kApart * training->end && training->end < kApart * validation->end;
}

bool comparable(const Patient& patient, const LossAndAccuracy& pair) {
  if (pair.loss->size() < kFewest || pair.accuracy->size() < kFewest || pair.loss->negated) return false;
  if (pair.loss->ends_nonfinite || !(pair.loss->end > 0)) return false;
  return pair.loss == patient.training() || same_unit(patient);
}

double uncertainty(double share) {
  if (share <= 0 || share >= 1) return 0;
  return -share * std::log(share) - (1 - share) * std::log(1 - share);
}

}  // namespace

double fano_bound(double right, double classes) {
  return uncertainty(right) + (1 - right) * std::log(std::max(1.0, classes - 1));
}

std::optional<std::string> accuracy_too_low_for_loss(const Patient& patient) {
  constexpr double kMargin = 0.1;  // of all answers: smoothed logs lag behind each other
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (!comparable(patient, pair)) continue;
    const double right = pair.share(pair.accuracy->end);
    const double least = 1 - pair.loss->end / std::numbers::ln2;
    if (right < 0 || right >= least - kMargin) continue;
    return pair.loss->name + " of " + number(pair.loss->end) + " means that at least " + per_cent(least) +
           " of the answers are right; " + pair.accuracy->name + " says " + per_cent(right);
  }
  return std::nullopt;
}

std::optional<std::string> loss_too_high_for_accuracy(const Patient& patient) {
  constexpr double kBeyondChance = 1.5;  // times 1/C: below this nothing is known that a loss could show
  constexpr double kMoving = 0.08;       // a model that still learns is not sure of itself yet
  constexpr double kSettled = 0.03;
  constexpr double kAtChance = 1.03;
  const auto classes = class_count(patient);
  if (!classes || *classes < 2) return std::nullopt;
  const double guess = std::log(*classes);
  for (const LossAndAccuracy& pair : losses_with_accuracy(patient)) {
    if (!comparable(patient, pair)) continue;
    const double right = pair.share(pair.accuracy->end);
    const double most = fano_bound(right, *classes);
    if (right < kBeyondChance / *classes || right > 1 || pair.loss->end > kAtChance * guess) continue;
    const double margin = still_falls(*pair.loss) ? kMoving : kSettled;
    if (pair.loss->end < (1 + margin) * most + margin / 4) continue;
    return pair.loss->name + " of " + number(pair.loss->end) + " is more than the " + number(most) + " that " +
           per_cent(right) + " right answers among " + std::to_string(*classes) +
           " classes can cost a model that knows how sure it may be";
  }
  return std::nullopt;
}

std::optional<std::string> worse_than_guessing(const Patient& patient) {
  constexpr double kClearly = 0.35;  // an area under the curve that no scatter of a guess reaches
  const Reading* training = patient.training();
  if (training == nullptr || patient.reinforcement() || training->improvement() < 2 * training->noise.sigma) return {};
  for (const Role role : {Role::validation_metric, Role::train_metric}) {
    for (const Cast& cast : patient.roles().in(role)) {
      if (cast.guess.measure != Measure::auc) continue;
      const Reading area = read_series(*cast.series, true);
      if (area.size() < kFewest) continue;
      const double now = area.shown(area.end);
      if (now > 0 && now < kClearly && now < area.shown(area.best)) {
        return area.name + " of " + number(now) + " is clearly worse than guessing while " + training->name + " fell";
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> stays_above_chance(const Patient& patient) {
  constexpr double kAbove = 1.03;
  constexpr double kMost = 1.5;  // times ln C: beyond this the outputs are too large, which is another matter
  const Reading* training = patient.training();
  const auto classes = class_count(patient);
  if (training == nullptr || training->size() < kFewest || training->negated || training->nonfinite > 0 || !classes ||
      training_learned(patient)) {
    return std::nullopt;
  }
  const double guess = std::log(*classes);
  if (training->end < kAbove * guess || training->end > kMost * guess) return std::nullopt;
  return training->name + " stays at " + number(training->end) + " and does not even come down to the " +
         number(guess) + " of guessing among " + std::to_string(*classes) + " classes";
}

}  // namespace osler
