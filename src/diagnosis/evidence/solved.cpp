// Telling success from standstill.
#include "diagnosis/evidence/solved.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "diagnosis/accuracies.h"
#include "diagnosis/evidence/chance.h"

namespace osler {
namespace {

constexpr double kNothingLeft = 0.01;  // share of the first loss
constexpr double kFallen = 0.3;        // share of it that has to be gone where answers tell the rest
constexpr double kAllRight = 0.985;    // answers; the last few are often labelled wrongly (Northcutt et al. 2021)

/// Validation, where it is logged, did not stay behind.
bool carries_over(const Reading* validation) {
  constexpr double kKept = 0.2;  // of what it began with
  return validation == nullptr || validation->curve.empty() || validation->negated ||
         validation->end <= kKept * std::max(validation->start, validation->opening);
}

/// Where training began; nothing where its loss has no floor to come down to.
std::optional<double> first_loss(const Patient& patient) {
  const Reading* loss = patient.training();
  if (loss == nullptr || loss->curve.empty() || loss->negated || loss->ends_nonfinite || loss->end < 0) return {};
  // The very first value: what came right after it may have been flung out.
  const double first = loss->opening > 0 ? loss->opening : loss->start;
  return first > 0 ? std::optional(first) : std::nullopt;
}

}  // namespace

bool all_answers_right(const Patient& patient) {
  const auto first = first_loss(patient);
  const auto pairs = losses_with_accuracy(patient);
  return first && !pairs.empty() && patient.training()->end <= kFallen * *first &&
         std::all_of(pairs.begin(), pairs.end(),
                     [](const LossAndAccuracy& pair) { return pair.share(pair.accuracy->end) >= kAllRight; });
}

bool solved(const Patient& patient) {
  if (all_answers_right(patient)) return true;
  const auto first = first_loss(patient);
  if (!first || !losses_with_accuracy(patient).empty()) return false;
  // However far it has fallen, a classifier whose loss is not far below that of guessing has solved nothing.
  const double end = patient.training()->end;
  const auto classes = class_count(patient);
  if (classes && end > kFallen * std::log(*classes)) return false;
  // Without answers a loss next to nothing may be learned by heart: validation has to have followed.
  return end <= kNothingLeft * *first && carries_over(patient.validation());
}

}  // namespace osler
