// gradient-norm: the size of the gradient.
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const Reading* norm = patient.gradient_norm();
  if (norm == nullptr || norm->curve.empty()) return std::nullopt;
  return norm->level;
}

}  // namespace

MeasureKind gradient_norm() {
  return {"gradient-norm",
          "gradient norm",
          "",
          "The median of the logged gradient norms.",
          "logs with the norm of the whole gradient",
          take};
}

}  // namespace osler::catalogue::measure
