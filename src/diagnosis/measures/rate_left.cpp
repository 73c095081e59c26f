// rate-left: how far the rate has come down.
#include "diagnosis/facts.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const std::optional<RateSchedule> rate = rate_schedule(patient);
  if (!rate) return std::nullopt;
  return rate->left();
}

}  // namespace

MeasureKind rate_left() {
  return {"rate-left",
          "learning rate left at the end",
          "of the peak",
          "The last learning rate as a share of the highest.",
          "logs with a learning rate",
          take};
}

}  // namespace osler::catalogue::measure
