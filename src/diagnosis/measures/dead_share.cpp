// dead-share: how many units have died.
#include <algorithm>

#include "diagnosis/layers.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"
#include "signal/robust.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  std::optional<double> most;
  for (const Layer& layer : layers_in(patient, Role::layer_activation)) {
    const Series* series = layer.find({"dead-share"});
    if (series == nullptr) continue;
    const signal::Curve curve = layer_curve(*series);
    if (!curve.empty()) most = std::max(most.value_or(0), signal::median(curve.value));
  }
  return most;
}

}  // namespace

MeasureKind dead_share() {
  return {"dead-share",
          "share of dead units",
          "of the units",
          "The largest share of units of a layer that are zero for every sample.",
          "runs whose activations were recorded",
          take};
}

}  // namespace osler::catalogue::measure
