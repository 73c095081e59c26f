// gain-share: how much was learned.
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  constexpr std::size_t kFewest = 5;
  const Reading* loss = patient.training();
  if (loss == nullptr || loss->negated || loss->size() < kFewest || loss->start <= 0) return std::nullopt;
  return loss->improvement() / loss->start;
}

}  // namespace

MeasureKind gain_share() {
  return {"gain-share",
          "gain of the training loss",
          "of its start",
          "How far the training loss came down at its best, as a share of where it started.",
          "training losses above zero of at least 5 points",
          take};
}

}  // namespace osler::catalogue::measure
