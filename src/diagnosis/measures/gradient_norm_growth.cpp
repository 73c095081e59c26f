// gradient-norm-growth: how the gradient grows.
#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  return late_over_early(patient.gradient_norm());
}

}  // namespace

MeasureKind gradient_norm_growth() {
  return {"gradient-norm-growth",
          "growth of the gradient norm",
          "times",
          "The gradient norm of the last third of the run over that of its first third.",
          "logs with at least 16 norms of the whole gradient",
          take};
}

}  // namespace osler::catalogue::measure
