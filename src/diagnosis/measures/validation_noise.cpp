// validation-noise: how noisy validation is.
#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  return scatter_over_level(patient.validation());
}

}  // namespace

MeasureKind validation_noise() {
  return {"validation-noise",
          "noise of the validation loss over its level",
          "of the level",
          "How far single evaluations scatter about the smoothed curve, as a share of its level.",
          "validation losses of at least 16 points",
          take};
}

}  // namespace osler::catalogue::measure
