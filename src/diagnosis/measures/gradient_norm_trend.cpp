// gradient-norm-trend: whether the gradient grows with every step.
#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const Reading* norm = long_enough(patient.gradient_norm());
  if (norm == nullptr) return std::nullopt;
  return signal::trend_of(norm->curve.step, norm->curve.value).tau;
}

}  // namespace

MeasureKind gradient_norm_trend() {
  return {"gradient-norm-trend",
          "steadiness of the growth of the gradient norm",
          "",
          "Kendall's tau between the gradient norm and the step: 1 where every later norm is larger, as where "
          "gradients are never cleared.",
          "logs with at least 16 norms of the whole gradient",
          take};
}

}  // namespace osler::catalogue::measure
