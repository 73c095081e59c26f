// Reads how a run began and how it broke.
#include "diagnosis/evidence/breakage.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/facts.h"
#include "diagnosis/wording.h"

namespace osler {

bool broke_for_good(const Patient& patient) {
  constexpr std::size_t kAWhile = 2;
  const Reading* training = patient.training();
  if (training == nullptr || !training->ends_nonfinite || training->size() < kAWhile) return false;
  const auto broke = break_of(patient);
  return !broke || !broke->announced();
}

bool gradient_broke_first(const Patient& patient) {
  const Reading* norm = patient.gradient_norm();
  const Reading* training = patient.training();
  if (norm == nullptr || training == nullptr || norm->nonfinite == 0) return false;
  return training->nonfinite == 0 || norm->first_nonfinite_step < training->first_nonfinite_step;
}

std::optional<std::string> first_norm_huge(const Patient& patient) {
  constexpr double kHuge = 100;
  constexpr std::size_t kFewest = 10;
  const Reading* norm = patient.gradient_norm();
  const Reading* training = patient.training();
  if (norm == nullptr || norm->size() < kFewest || norm->nonfinite > 0 || !(norm->start > kHuge)) return std::nullopt;
  if (training == nullptr || training->nonfinite > 0 || patient.reinforcement()) return std::nullopt;
  return "the gradient norm begins at " + number(norm->start) + ", before training could have gone wrong";
}

std::optional<std::string> leapt_at_once(const Patient& patient, const Verdicts& verdicts) {
  constexpr std::size_t kBefore = 5;
  constexpr double kLeap = 3;
  constexpr double kCalm = 1.3;
  const Reading* training = patient.training();
  if (verdicts.found("loss-diverging") == nullptr && verdicts.found("loss-spikes") == nullptr) return std::nullopt;
  if (training == nullptr || training->negated || training->size() < 2 * kBefore) return std::nullopt;
  const std::vector<double>& value = training->curve.value;
  for (std::size_t i = kBefore; i < value.size(); ++i) {
    const auto first = value.begin() + static_cast<std::ptrdiff_t>(i - kBefore);
    const auto [low, high] = std::minmax_element(first, first + kBefore);
    if (!(*low > 0) || value[i] < kLeap * *high) continue;
    if (*high > kCalm * *low) return std::nullopt;
    return training->name + " leapt from " + number(value[i - 1]) + " to " + number(value[i]) +
           " between two points, out of a calm";
  }
  return std::nullopt;
}

bool weights_stand_still(const Patient& patient) {
  constexpr double kCoarse = 100;  // a log with two digits may hide a change
  const Reading* validation = patient.validation();
  if (validation == nullptr || !exactly_constant(*validation)) return false;
  const double value = kCoarse * validation->curve.value.front();
  return value != 0 && std::abs(value - std::round(value)) > 1e-6 * std::abs(value);
}

}  // namespace osler
