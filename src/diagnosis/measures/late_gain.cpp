// late-gain: whether training still learns.
#include "diagnosis/measuring.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  const Reading* loss = long_enough(patient.training());
  if (loss == nullptr || loss->improvement() <= 0) return std::nullopt;
  const double middle = loss->smoothed[loss->smoothed.size() / 2];
  return (middle - loss->end) / loss->improvement();
}

}  // namespace

MeasureKind late_gain() {
  return {"late-gain",
          "gain in the second half",
          "of the gain",
          "How much of the whole gain of the training loss fell into the second half of the run.",
          "training losses of at least 16 points that ever improved",
          take};
}

}  // namespace osler::catalogue::measure
