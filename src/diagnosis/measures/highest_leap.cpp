// highest-leap: the worst spike.
#include <algorithm>

#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const Reading* loss = long_enough(patient.training());
  if (loss == nullptr || loss->noise.sigma <= 0) return std::nullopt;
  double highest = 0;
  for (std::size_t i = 0; i < loss->size(); ++i) {
    highest = std::max(highest, (loss->curve.high[i] - loss->smoothed[i]) / loss->noise.sigma);
  }
  return highest;
}

}  // namespace

MeasureKind highest_leap() {
  return {"highest-leap",
          "highest leap of the training loss",
          "noise levels",
          "How far the highest single training loss lies above the smoothed curve, in units of its noise.",
          "training losses of at least 16 points",
          take};
}

}  // namespace osler::catalogue::measure
