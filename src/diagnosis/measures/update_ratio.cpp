// update-ratio: how large the steps are beside the weights.
#include <vector>

#include "diagnosis/patient.h"
#include "diagnosis/update_ratios.h"
#include "osler/diagnosis/measures.h"
#include "signal/robust.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  constexpr double kFewest = 3;
  std::vector<double> medians;
  for (const UpdateRatio& ratio : update_ratios(patient, kFewest)) medians.push_back(ratio.median);
  if (medians.empty()) return std::nullopt;
  return signal::median(medians);
}

}  // namespace

MeasureKind update_ratio() {
  return {"update-ratio",
          "size of updates over that of weights",
          "",
          "The median over the layers of how large an update is beside the weights that it changes; about a thousandth "
          "is usual.",
          "logs with the norms of weights and updates of layers",
          take};
}

}  // namespace osler::catalogue::measure
