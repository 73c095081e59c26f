// weights-nonfinite: a parameter holds NaN or infinity.
#include <algorithm>

#include "diagnosis/layers.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
A parameter of the model is NaN or infinite.

## Signature
The norm of a layer's weights is not finite, or non-finite elements were counted in it.

## Why it matters
A weight that is NaN stays NaN, and so does everything it touches: the run is over from that step on.

## When it is harmless
Never, but for masks kept as infinite parameters.

## References
- Micikevicius et al. 2018, Mixed Precision Training.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const std::vector<Layer> layers = layers_in(patient, Role::layer_weight);
  if (layers.empty()) return NotChecked{"no weights of layers in the log"};
  Observation seen = observe(Severity::critical, 0.99, 0, 0, "");
  for (const Layer& layer : layers) {
    const Series* series = layer.find({"norm", "max", "std", "mean"});
    if (series == nullptr) continue;
    const Bucket total = *series->summary().total();
    if (static_cast<double>(total.nonfinite) <= settings["count"]) continue;
    if (seen.layers.empty() || total.first_nonfinite_step < seen.first_step)
      seen.first_step = total.first_nonfinite_step;
    seen.last_step = std::max(seen.last_step, total.last_step);
    if (seen.evidence.size() < 4) {
      seen.evidence.push_back(evidence(series->name(), total.first_nonfinite_step, total.last_step,
                                       static_cast<double>(total.nonfinite), settings["count"],
                                       "not finite from " + at_step(total.first_nonfinite_step) + " on"));
    }
    seen.layers.push_back(layer.name);
  }
  if (seen.layers.empty()) return NotFound{};
  seen.summary =
      "The weights of " + listed(seen.layers) + " are NaN or infinite from " + at_step(seen.first_step) + " on.";
  return seen;
}

}  // namespace

Finding weights_nonfinite() {
  return {"weights-nonfinite",
          "Weights are NaN or infinite",
          {Need::layer, Need::live},
          kDoc,
          {{"count", 0, "logged values that may be non-finite: none"}},
          check};
}

}  // namespace osler::catalogue
