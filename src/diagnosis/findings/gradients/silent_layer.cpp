// silent-layer: the gradient of single layers is next to nothing beside that of all others of their kind.
#include <algorithm>

#include "diagnosis/layer_sizes.h"
#include "diagnosis/layers.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
One layer, or a few, receive a gradient that is not zero but orders of magnitude smaller than that of every other layer
of their kind: they take no part in learning.

## Signature
On a logarithmic scale, between a layer's late gradient and the next larger one of its kind (weights or adapters, each
network apart) lies a gap of at least `gap`, and it is `ratio` times below the middle of the others and `spreads` robust
deviations below it; fewer than half of the layers (`share`) lie there together. From `certain` on it is a warning
whatever the loss does; short of that a warning when the training does not improve, else a note. Shares of elements that
are nearly zero, where they are logged, are quoted.

## Why it matters
The layer keeps its first, random weights, and everything behind it has to work around them. Adaptive optimizers do not
help: below their epsilon (1e-8) a gradient is as good as none.

## When it is harmless
Biases before a normalisation and those of attention's keys have no gradient by arithmetic, embeddings and experts are
touched by few batches, a temperature or a gate has a size of its own: none of them is judged. A gradient that shrinks
step by step along the depth is vanishing-by-depth, one that is exactly zero dead-layer.

## References
- Glorot and Bengio 2010, Understanding the difficulty of training deep feedforward neural networks.
- Kingma and Ba 2015, Adam: A Method for Stochastic Optimization.
)";

ApartRule rule_of(const SettingValues& settings) {
  return {settings["gap"], settings["ratio"], settings["spreads"], settings["share"], settings["fewest_peers"]};
}

/// "; 99 % of its elements are nearly zero", where the log has that.
std::string nearly_zero(const Patient& patient, const std::string& name) {
  for (const Layer& layer : layers_in(patient, Role::layer_gradient)) {
    if (layer.name != name) continue;
    const Series* series = layer.find({"near-zero-share"});
    if (series == nullptr) return {};
    const double share = level_now(layer_curve(*series));
    return share > 0 ? "; " + per_cent(share) + " of its elements are nearly zero" : "";
  }
  return {};
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  std::vector<LayerSize> sizes = gradient_sizes(patient, settings["fewest_points"]);
  std::erase_if(sizes, [](const LayerSize& size) { return is_small(size.kind) || size.kind == LayerKind::embedding; });
  const ApartRule rule = rule_of(settings);
  if (const std::string why = why_incomparable(sizes, rule); !why.empty()) return NotChecked{why};
  const std::vector<ApartLayer> below = layers_below(sizes, rule);
  if (below.empty()) return NotFound{};

  const ApartLayer& worst = below.front();
  std::int64_t since = worst.first_step;
  std::vector<std::string> names;
  for (const ApartLayer& apart : below) {
    since = std::min(since, apart.first_step);
    names.push_back(apart.size->layer);
  }
  const bool certain = worst.ratio > settings["certain"];
  const bool harmed = patient.training() != nullptr && !training_improves(patient);
  Observation seen = observe(certain || harmed ? Severity::warning : Severity::note,
                             confidence_of(worst.ratio / settings["ratio"]), since, worst.size->last_step,
                             "The gradient of " + worst.size->layer + " is " + number(worst.size->now) +
                                 " where the other layers have " + number(worst.others) + ": it does not learn" +
                                 (names.size() > 1 ? ", nor " + (names.size() > 2 ? "do " : std::string("does ")) +
                                                         listed({names.begin() + 1, names.end()}) + "."
                                                   : "."));
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < std::min(below.size(), kShown); ++i) {
    const ApartLayer& apart = below[i];
    seen.evidence.push_back(evidence(apart.size->series, apart.first_step, apart.size->last_step, apart.size->now,
                                     apart.others / settings["ratio"],
                                     "now " + number(apart.size->now) + ", first " + number(apart.size->before) +
                                         "; the middle of " + std::to_string(apart.how_many) + " others is " +
                                         number(apart.others) + nearly_zero(patient, apart.size->layer)));
  }
  seen.layers = std::move(names);
  return seen;
}

}  // namespace

Finding silent_layer() {
  return {"silent-layer",
          "One layer's gradient is next to nothing beside the others'",
          {Need::layer},
          kDoc,
          {{"fewest_points", 5, "logged gradients of a layer needed for its usual size"},
           {"fewest_peers", 3, "other layers of its kind that it takes to say what is usual"},
           {"gap", 100, "factor to the nearest of the others: a size of its own, not the end of a slope"},
           {"ratio", 1e4, "factor below the middle of the others; a thousand may be depth alone"},
           {"certain", 1e6, "factor from which the layer gets nothing but rounding, as for vanishing by depth"},
           {"spreads", 5, "robust deviations of the others' logarithms (Hampel 1974: three are an outlier)"},
           {"share", 0.4, "largest part of the layers that may be silent together"}},
          check};
}

}  // namespace osler::catalogue
