// flat-share: how long training has stood still.
#include "diagnosis/flatness.h"
#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const Reading* loss = long_enough(patient.training());
  if (loss == nullptr) return std::nullopt;
  return flatness_of(*loss).share;
}

}  // namespace

MeasureKind flat_share() {
  return {"flat-share",
          "part of the run without progress",
          "of the run",
          "The share of the run, up to its end, over which the training loss gained next to nothing.",
          "training losses of at least 16 points",
          take};
}

}  // namespace osler::catalogue::measure
