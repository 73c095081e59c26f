// How the norms of weights changed over the run.
#include "diagnosis/weight_norms.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/layers.h"
#include "signal/robust.h"

namespace osler {

WeightNorms weight_norms(const Patient& patient, double fewest) {
  WeightNorms norms;
  std::vector<double> early_sizes;
  for (const Layer& layer : layers_in(patient, Role::layer_weight)) {
    const Series* series = layer.find({"norm", "std"});
    if (series == nullptr) continue;
    const signal::Curve curve = layer_curve(*series);
    const std::size_t n = curve.size();
    if (static_cast<double>(n) < fewest) continue;
    const Bucket total = *series->summary().total();
    WeightNorm norm;
    norm.layer = layer.name;
    norm.series = series->name();
    const std::size_t tenth = std::max<std::size_t>(1, n / 10);
    norm.early = signal::median(std::span(curve.value).first(tenth));
    norm.late = signal::median(std::span(curve.value).last(tenth));
    const double before = signal::median(std::span(curve.value).subspan(2 * n / 3 - tenth / 2, tenth));
    norm.last_third = before > 0 ? norm.late / before : 1;
    const std::vector<Point> recent = series->summary().recent();
    norm.ends_nonfinite = !recent.empty() && !std::isfinite(recent.back().value);
    std::vector<double> logarithm(curve.value.begin() + static_cast<std::ptrdiff_t>(n / 2), curve.value.end());
    for (double& value : logarithm) value = std::log(std::max(value, 1e-300));
    norm.trend = signal::trend_of(std::span(curve.step).subspan(n / 2), logarithm);
    norm.first_step = total.first_step;
    norm.last_step = total.last_step;
    early_sizes.push_back(norm.early);
    norms.layers.push_back(std::move(norm));
  }
  if (!early_sizes.empty()) norms.usual = signal::median(early_sizes);
  return norms;
}

}  // namespace osler
