// exploding-layer: the gradient of single layers lies far above that of all others of their kind.
#include <algorithm>
#include <cmath>

#include "diagnosis/layer_sizes.h"
#include "diagnosis/layers.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
One layer, or a few, receive a gradient many times larger than every other layer of their kind. The norm of the whole
gradient is then theirs alone, and clipping it starves all the others.

## Signature
On a logarithmic scale, between a layer's late gradient and the next lower one of its kind (weights, embeddings,
adapters, biases, normalisations, each network apart) lies a gap of at least `gap`, and it is `ratio` times the middle
of the others and `spreads` robust deviations above it; at most `share` of the layers lie there together. It is a
warning when the layer grew to that size (`growth`, while the others did not), when the training does not improve, or
when there is no loss to tell and the norm is above `large`; critical when it grew and the loss broke; else a note.

## Why it matters
A step that suits one layer is far too long or far too short for the rest. A layer that grows away from the others is
where the NaN will begin.

## When it is harmless
Layers that differ by 10 to 100 are ordinary, and a head or a first layer may lie above the others all along in a run
that learns well.

## References
- Pascanu, Mikolov, Bengio 2013, On the difficulty of training recurrent neural networks.
- You, Gitman, Ginsburg 2017, Large Batch Training of Convolutional Networks.
)";

ApartRule rule_of(const SettingValues& settings) {
  return {settings["gap"], settings["ratio"], settings["spreads"], settings["share"], settings["fewest_peers"]};
}

/// The layer has grown by more than `factor`, and the others of its group have not done the same.
bool grew_alone(const ApartLayer& apart, const std::vector<LayerSize>& sizes, double factor) {
  const LayerSize& size = *apart.size;
  if (!(size.before > 0) || size.now < factor * size.before) return false;
  const auto with_it = std::count_if(sizes.begin(), sizes.end(), [&](const LayerSize& other) {
    return &other != &size && other.before > 0 && other.now > std::sqrt(factor) * other.before;
  });
  return 2 * static_cast<std::size_t>(with_it) < sizes.size();
}

bool loss_broke(const Patient& patient) {
  const Reading* loss = patient.training();
  return loss != nullptr &&
         (loss->ends_nonfinite || loss->end > loss->best + std::max(6 * loss->noise.sigma, 0.1 * loss->level));
}

Severity severity_of(const Patient& patient, const SettingValues& settings, bool grew, double now) {
  if (grew) return loss_broke(patient) ? Severity::critical : Severity::warning;
  const Reading* loss = patient.training();
  const bool told = loss != nullptr && !loss->curve.empty();
  const bool harmed = told ? !training_improves(patient) : now > settings["large"];
  return harmed ? Severity::warning : Severity::note;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const std::vector<LayerSize> sizes = gradient_sizes(patient, settings["fewest_points"]);
  const ApartRule rule = rule_of(settings);
  if (const std::string why = why_incomparable(sizes, rule); !why.empty()) return NotChecked{why};
  const std::vector<ApartLayer> above = layers_above(sizes, rule);
  if (above.empty()) return NotFound{};

  const ApartLayer& worst = above.front();
  bool grew = false;
  std::int64_t since = worst.first_step;
  std::vector<std::string> names;
  for (const ApartLayer& apart : above) {
    grew = grew || grew_alone(apart, sizes, settings["growth"]);
    since = std::min(since, apart.first_step);
    names.push_back(apart.size->layer);
  }
  Observation seen = observe(
      severity_of(patient, settings, grew, worst.size->now), confidence_of(worst.ratio / settings["ratio"]), since,
      worst.size->last_step,
      "The gradient of " + worst.size->layer + " is " + number(worst.size->now) + ", " + times(worst.ratio) +
          " that of the other layers (" + number(worst.others) + ")" +
          (names.size() > 1 ? "; " + listed({names.begin() + 1, names.end()}) + " lie far above them, too." : "."));
  seen.qualifiers["course"] = grew ? "grew" : "all along";
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < std::min(above.size(), kShown); ++i) {
    const ApartLayer& apart = above[i];
    seen.evidence.push_back(evidence(
        apart.size->series, apart.first_step, apart.size->last_step, apart.size->now, settings["ratio"] * apart.others,
        "now " + number(apart.size->now) + ", first " + number(apart.size->before) + "; the middle of " +
            std::to_string(apart.how_many) + " others is " + number(apart.others)));
  }
  seen.layers = std::move(names);
  return seen;
}

}  // namespace

Finding exploding_layer() {
  return {"exploding-layer",
          "One layer's gradient lies far above all others",
          {Need::layer},
          kDoc,
          {{"fewest_points", 5, "logged gradients of a layer needed for its usual size"},
           {"fewest_peers", 3, "other layers of its kind that it takes to say what is usual"},
           {"gap", 10, "factor to the nearest of the others: a size of its own, not the end of a slope"},
           {"ratio", 100, "factor above the middle of the others (seeds: 10 to 100 between layers is healthy)"},
           {"spreads", 5, "robust deviations of the others' logarithms (Hampel 1974: three are an outlier)"},
           {"share", 0.25, "largest part of the layers that may stand out together"},
           {"growth", 30, "growth of the layer alone that counts as running away, as for the norm of the whole"},
           {"large", 10,
            "norm of a layer that counts as exploding where no loss is logged: ten times the usual limit of clipping"}},
          check};
}

}  // namespace osler::catalogue
