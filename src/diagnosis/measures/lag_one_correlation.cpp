// lag-one-correlation: whether losses swing or only scatter.
#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"
#include "signal/oscillation.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const Reading* loss = long_enough(patient.training());
  if (loss == nullptr || loss->noise.sigma == 0) return std::nullopt;
  return signal::oscillation_of(loss->curve.value).lag1;
}

}  // namespace

MeasureKind lag_one_correlation() {
  return {"lag-one-correlation",
          "correlation of successive losses",
          "",
          "How alike successive deviations of the training loss from the smoothed curve are: 0 for the noise of "
          "batches, below "
          "0 where steps overshoot, near 1 for running means.",
          "training losses of at least 16 points",
          take};
}

}  // namespace osler::catalogue::measure
