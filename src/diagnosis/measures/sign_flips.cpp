// sign-flips: how often the loss turns back.
#include <vector>

#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const Reading* loss = long_enough(patient.training());
  if (loss == nullptr) return std::nullopt;
  const std::vector<double>& value = loss->curve.value;
  double flips = 0;
  double moves = 0;
  double before = 0;
  for (std::size_t i = 1; i < value.size(); ++i) {
    const double move = value[i] - value[i - 1];
    if (move == 0) continue;
    if (before != 0) {
      moves += 1;
      flips += (move > 0) != (before > 0) ? 1 : 0;
    }
    before = move;
  }
  if (moves == 0) return std::nullopt;
  return flips / moves;
}

}  // namespace

MeasureKind sign_flips() {
  return {"sign-flips",
          "share of steps at which the loss turns back",
          "of all steps",
          "How often a fall of the training loss follows a rise or the other way round: two thirds for pure noise, "
          "more where it overshoots.",
          "training losses of at least 16 points",
          take};
}

}  // namespace osler::catalogue::measure
