// Reading or computing update-to-weight ratios.
#include "diagnosis/update_ratios.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "diagnosis/layers.h"
#include "diagnosis/observe.h"
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
  std::unordered_map<std::string_view, const Layer*> by_name;
  for (const Layer& layer : weights) by_name.emplace(layer.name, &layer);
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
      const auto own = by_name.find(layer.name);
      const Series* norm = own == by_name.end() ? nullptr : own->second->find({"norm"});
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

void name_layers(const std::vector<UpdateRatio>& ratios, double limit, Observation& seen) {
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const UpdateRatio& ratio = ratios[i];
    seen.layers.push_back(ratio.layer);
    if (i >= kShown) continue;
    seen.evidence.push_back(evidence(ratio.series, ratio.first_step, ratio.last_step, ratio.median, limit,
                                     "median ratio " + number(ratio.median)));
  }
}

}  // namespace osler
