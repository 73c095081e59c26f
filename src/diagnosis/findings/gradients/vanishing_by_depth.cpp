// vanishing-by-depth: the gradient shrinks from the output towards the input until nothing is left.
#include <algorithm>
#include <cmath>

#include "diagnosis/layers.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Late layers receive a sound gradient, early ones almost none: the signal shrinks by a factor at every layer on its way
back.

## Signature
Over the layers' weights in network order, the logarithm of the gradient's usual size (per element where the log has it)
rises significantly (Mann-Kendall p below `p_value`; at every single layer where there are fewer than seven), and the
last third lies at least `ratio` above the first third, as does the fitted line from first to last.

## Why it matters
Early layers keep their random weights, and everything after them learns on top of noise.

## When it is harmless
Sizes that differ by 10 to 100 are ordinary. Biases, normalisation parameters, embeddings and layers without any
gradient are left out, since their sizes follow other rules.

## References
- Hochreiter 1991; Bengio, Simard, Frasconi 1994, Learning long-term dependencies with gradient descent is difficult.
- Glorot and Bengio 2010; He et al. 2015, Deep Residual Learning for Image Recognition.
)";

struct Sized {
  std::string name;
  std::string series;
  double size = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};

std::vector<Sized> sizes_of(const Patient& patient, double fewest_values) {
  const std::vector<Layer> layers = layers_in(patient, Role::layer_gradient);
  // The deviation per element does not grow with the layer; it is used when every layer has it.
  const bool by_element =
      std::all_of(layers.begin(), layers.end(), [](const Layer& layer) { return layer.find({"std"}) != nullptr; });
  std::vector<Sized> sizes;
  for (const Layer& layer : layers) {
    const Series* series = by_element ? layer.find({"std"}) : layer.find({"norm"});
    if (series == nullptr || is_vector(layer.name) || is_embedding(patient, layer.name)) continue;
    const signal::Curve curve = layer_curve(*series);
    if (curve.points() < fewest_values) continue;
    const double size = signal::median(curve.value);
    if (!(size > 0)) continue;
    const Bucket total = *series->summary().total();
    sizes.push_back({layer.name, series->name(), size, total.first_step, total.last_step});
  }
  return sizes;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const std::vector<Sized> sizes = sizes_of(patient, settings["fewest_values"]);
  const std::size_t n = sizes.size();
  if (static_cast<double>(n) < settings["fewest_layers"]) {
    return NotChecked{"gradients of fewer than " + number(settings["fewest_layers"]) + " layers in the log"};
  }
  std::vector<double> depth(n);
  std::vector<double> size(n);
  for (std::size_t i = 0; i < n; ++i) {
    depth[i] = static_cast<double>(i);
    size[i] = std::log(sizes[i].size);
  }
  const std::size_t third = std::max<std::size_t>(1, n / 3);
  const double early = signal::median(std::span(size).first(third));
  const double late = signal::median(std::span(size).last(third));
  constexpr std::size_t kFewForATest = 7;
  const signal::Trend trend = signal::trend_of(depth, size);
  const bool rises = n < kFewForATest ? std::is_sorted(size.begin(), size.end()) : trend.rises(settings["p_value"]);
  const double along = n < 4 ? size.back() - size.front() : trend.change;
  const double ratio = std::exp(std::min(late - early, along));
  if (!rises || ratio < settings["ratio"]) return NotFound{};

  std::vector<std::string> starved;
  for (std::size_t i = 0; i < n; ++i) {
    if (late - size[i] > std::log(settings["ratio"])) starved.push_back(sizes[i].name);
  }
  const Sized& first = sizes.front();
  Observation seen = observe(ratio > settings["critical_ratio"] ? Severity::critical : Severity::warning,
                             confidence_of(ratio / settings["ratio"]), first.first_step, first.last_step,
                             "Gradients shrink by " + times(ratio) + " from the last layers to the first: " +
                                 listed(starved.empty() ? std::vector{first.name} : starved) + " hardly learn.");
  seen.layers = starved.empty() ? std::vector{first.name} : starved;
  seen.evidence.push_back(evidence(first.series, first.first_step, first.last_step, first.size,
                                   std::exp(late) / settings["ratio"],
                                   "median size " + number(first.size) + " at " + first.name));
  seen.evidence.push_back(evidence(sizes.back().series, sizes.back().first_step, sizes.back().last_step,
                                   sizes.back().size, std::nan(""),
                                   "median size " + number(sizes.back().size) + " at " + sizes.back().name));
  return seen;
}

}  // namespace

Finding vanishing_by_depth() {
  return {"vanishing-by-depth",
          "Gradients vanish from the last layers to the first",
          {Need::layer},
          kDoc,
          {{"fewest_layers", 3, "layers with weights needed to speak of depth"},
           {"fewest_values", 3, "logged values of a layer needed for its usual size"},
           {"ratio", 1000, "factor from first to last layers (seeds: 10 to 100 is healthy, 1000 is not)"},
           {"critical_ratio", 1e6, "factor beyond which the first layers receive nothing but rounding"},
           {"p_value", 0.01, "significance of the rise along the depth"}},
          check};
}

}  // namespace osler::catalogue
