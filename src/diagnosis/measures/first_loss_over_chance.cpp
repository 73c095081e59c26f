// first-loss-over-chance: where a classifier starts.
#include <cmath>

#include "diagnosis/configured.h"
#include "diagnosis/movement.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const std::optional<int> classes = configured_classes(patient);
  const Reading* loss = patient.training();
  if (!classes || *classes < 2 || loss == nullptr || loss->negated || loss->curve.empty()) return std::nullopt;
  return first_value(patient, *loss) / std::log(*classes);
}

}  // namespace

MeasureKind first_loss_over_chance() {
  return {"first-loss-over-chance",
          "first loss over that of guessing",
          "ln C",
          "The first training loss in units of ln C: 1 is a fresh classifier, 10 a broken initialisation.",
          "classifiers whose number of classes is configured, with a cross-entropy",
          take};
}

}  // namespace osler::catalogue::measure
