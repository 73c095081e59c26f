// peak-rate: the rate at work.
#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  return highest_rate(patient);
}

}  // namespace

MeasureKind peak_rate() {
  return {"peak-rate",
          "highest learning rate",
          "",
          "The highest learning rate that was logged or is configured.",
          "logs or configurations with a learning rate",
          take};
}

}  // namespace osler::catalogue::measure
