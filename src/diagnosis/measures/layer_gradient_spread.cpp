// layer-gradient-spread: whether the signal fades through the network.
#include <algorithm>
#include <cmath>
#include <vector>

#include "diagnosis/layers.h"
#include "diagnosis/patient.h"
#include "osler/diagnosis/measures.h"
#include "signal/robust.h"

namespace osler::catalogue::measure {
namespace {

std::optional<double> take(const Patient& patient) {
  std::vector<double> norms;
  for (const Layer& layer : layers_in(patient, Role::layer_gradient)) {
    const Series* series = layer.find({"norm"});
    if (series == nullptr || is_vector(layer.name)) continue;
    const signal::Curve curve = layer_curve(*series);
    const double norm = curve.empty() ? 0 : signal::median(curve.value);
    if (norm > 0) norms.push_back(norm);
  }
  if (norms.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(norms.begin(), norms.end());
  return std::log10(*most / *least);
}

}  // namespace

MeasureKind layer_gradient_spread() {
  return {"layer-gradient-spread",
          "spread of the gradient over the layers",
          "decades",
          "How many powers of ten lie between the largest and the smallest gradient norm of a layer, by the median "
          "over the run.",
          "logs with the gradient norms of at least two layers",
          take};
}

}  // namespace osler::catalogue::measure
