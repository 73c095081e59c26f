// noise-over-level: how noisy training is.
#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  return scatter_over_level(patient.training());
}

}  // namespace

MeasureKind noise_over_level() {
  return {"noise-over-level",
          "noise of the training loss over its level",
          "of the level",
          "How far single losses scatter about the smoothed curve, as a share of its level.",
          "training losses of at least 16 points",
          take};
}

}  // namespace osler::catalogue::measure
