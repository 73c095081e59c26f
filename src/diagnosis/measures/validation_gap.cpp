// validation-gap: how much worse validation ends than training.
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr || training->negated || validation->negated) return std::nullopt;
  if (training->curve.empty() || validation->curve.empty() || training->start <= 0) return std::nullopt;
  return (validation->end - training->end) / training->start;
}

}  // namespace

MeasureKind validation_gap() {
  return {"validation-gap",
          "gap between validation and training loss",
          "of the training loss",
          "How far the validation loss ends above the training loss, as a share of where training started.",
          "logs with a training and a validation loss of the same kind",
          take};
}

}  // namespace osler::catalogue::measure
