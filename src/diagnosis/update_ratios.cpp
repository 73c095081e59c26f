// Reading or computing update-to-weight ratios.
#include "diagnosis/update_ratios.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/layers.h"
#include "signal/robust.h"

namespace osler {
namespace {

/// "update_ratio/fc1" holds ratios; "updates/fc1" holds norms.
bool holds_ratios(const Series& series) {
  return series.name().find("atio") != std::string::npos;
}

/// Ratios are never negative: a series that always is holds their logarithms.
void undo_logarithm(std::vector<double>& values) {
  const bool logarithms = std::all_of(values.begin(), values.end(), [](double value) { return value < 0; });
  if (!logarithms) return;
  for (double& value : values) value = std::pow(10.0, value);
}

}  // namespace

std::vector<UpdateRatio> update_ratios(const Patient& patient, double fewest) {
  const std::vector<Layer> weights = layers_in(patient, Role::layer_weight);
  std::vector<UpdateRatio> ratios;
  for (const Layer& layer : layers_in(patient, Role::layer_update)) {
    const Series* series = layer.find({"ratio", "norm"});
    if (series == nullptr || is_vector(layer.name)) continue;
    const signal::Curve curve = layer_curve(*series);
    if (curve.points() < fewest) continue;
    std::vector<double> values = curve.value;
    if (holds_ratios(*series) || layer.find({"ratio"}) == series) {
      undo_logarithm(values);
    } else {
      const Layer* own = find_layer(weights, layer.name);
      const Series* norm = own == nullptr ? nullptr : own->find({"norm"});
      const double size = norm == nullptr ? 0 : signal::median(layer_curve(*norm).value);
      if (!(size > 0)) continue;
      for (double& value : values) value /= size;
    }
    const Bucket total = *series->summary().total();
    ratios.push_back({layer.name, series->name(), signal::quantile(values, 0.25), signal::median(values),
                      signal::quantile(values, 0.75), total.first_step, total.last_step});
  }
  return ratios;
}

}  // namespace osler
