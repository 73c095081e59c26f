// dead-layer: a layer receives no gradient at all.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/solved.h"
#include "diagnosis/facts.h"
#include "diagnosis/layers.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The gradient of a layer is exactly zero, or tiny and constant to the last digit: the layer takes no part in learning.

## Signature
All values of a layer's gradient from some step to the end are exactly 0 (at least `fewest_points`, and `late_share` of
the run when it was alive before), or all are one number below `tiny`. Every layer dead is critical. Dead layers between
live ones, and layers that die on the way, are a warning. A dead block at the beginning or end of the network, or more
dead layers than live ones, in a run that comes down to `serves` of its first loss, is a note: that is what freezing on
purpose looks like.

## Why it matters
The graph is cut before that layer (a detach, a missing return value, a no_grad block), or all of its units are off.

## When it is harmless
Frozen layers in fine-tuning, adapters beside frozen weights, and heads that the loss does not use. A bias whose weight
receives a gradient is left out: it cancels, as that of a critic's last layer does.

## References
- Lu et al. 2020, Dying ReLU and Initialization: Theory and Numerical Examples.
)";

struct Vital {
  std::string name;
  std::string series;
  bool dead = false;
  bool died = false;  // alive at first
  std::int64_t since = 0;
  std::int64_t last_step = 0;
  double points = 0;  // without gradient
};

Vital vital_of(const Layer& layer, const Series& series, const SettingValues& settings) {
  const signal::Curve curve = layer_curve(series);
  const Bucket total = *series.summary().total();
  Vital vital{layer.name, series.name(), false, false, total.first_step, total.last_step, 0};
  if (total.nonfinite > 0 || curve.points() < settings["fewest_points"]) return vital;
  if (total.min == total.max && std::abs(total.max) < settings["tiny"]) {
    vital.dead = true;
    vital.points = curve.points();
    return vital;
  }
  std::size_t first = curve.size();
  while (first > 0 && curve.low[first - 1] == 0 && curve.high[first - 1] == 0) {
    --first;
    vital.points += curve.count[first];
  }
  if (vital.points < std::max(2 * settings["fewest_points"], settings["late_share"] * curve.points())) return vital;
  vital.dead = vital.died = true;
  vital.since = std::llround(curve.step[first]);
  return vital;
}

/// The dead of a block at either end of the network, and of nothing else.
bool at_one_end(const std::vector<Vital>& layers) {
  std::size_t changes = 0;
  for (std::size_t i = 1; i < layers.size(); ++i) changes += layers[i].dead != layers[i - 1].dead ? 1 : 0;
  return changes == 1 || (changes == 2 && layers.front().dead && layers.back().dead);
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  std::vector<Vital> layers;
  for (const Layer& layer : layers_in(patient, Role::layer_gradient)) {
    const Series* series = layer.find({"norm", "max", "std", "mean"});
    if (series == nullptr || static_cast<double>(series->summary().points()) < settings["fewest_points"]) continue;
    layers.push_back(vital_of(layer, *series, settings));
  }
  if (layers.empty()) {
    return NotChecked{"no layer with at least " + number(settings["fewest_points"]) + " logged gradients"};
  }
  // A bias that cancels (before a normalisation, or in a difference of two outputs) has no slope; its layer is alive.
  const auto alive = [&](std::string_view name) {
    return std::any_of(layers.begin(), layers.end(),
                       [&](const Vital& vital) { return vital.name == name && !vital.dead; });
  };
  std::vector<const Vital*> dead;
  for (const Vital& vital : layers) {
    if (vital.dead && !alive(weight_beside(vital.name))) dead.push_back(&vital);
  }
  if (dead.empty()) return NotFound{};

  const bool died = std::any_of(dead.begin(), dead.end(), [](const Vital* vital) { return vital->died; });
  const bool all = dead.size() == layers.size();
  // A hinge that every sample clears, or a loss of nothing, sends no gradient to anybody.
  if (all && died && solved(patient)) return NotFound{};
  // A monitor leaves out what is frozen: a layer that it shows is meant to learn. Others write 0 for no gradient, and a
  // backbone frozen on purpose serves: the run gets somewhere without it.
  const Reading* loss = patient.training();
  const bool serves = loss != nullptr && loss->start > 0 && loss->end < settings["serves"] * loss->start;
  const bool frozen = !monitored(patient) && serves && (at_one_end(layers) || 2 * dead.size() > layers.size());
  const Severity severity = all ? Severity::critical : died || !frozen ? Severity::warning : Severity::note;
  std::vector<std::string> names;
  std::int64_t since = dead.front()->since;
  for (const Vital* vital : dead) {
    names.push_back(vital->name);
    since = std::min(since, vital->since);
  }
  Observation seen = observe(severity, severity == Severity::note ? 0.6 : 0.9, since, dead.front()->last_step,
                             (all ? "No layer receives any gradient" : listed(names) + " received no gradient") +
                                 std::string(died ? " from " + at_step(since) + " on." : " at any time."));
  seen.qualifiers["pattern"] = all      ? "all layers"
                               : died   ? "died on the way"
                               : frozen ? "looks frozen"
                                        : "between others";
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < std::min(dead.size(), kShown); ++i) {
    seen.evidence.push_back(evidence(dead[i]->series, dead[i]->since, dead[i]->last_step, dead[i]->points,
                                     settings["fewest_points"],
                                     "its last " + number(dead[i]->points) + " values are zero or one tiny number"));
  }
  seen.layers = std::move(names);
  return seen;
}

}  // namespace

Finding dead_layer() {
  return {"dead-layer",
          "A layer receives no gradient",
          {Need::layer},
          kDoc,
          {{"fewest_points", 5, "logged gradients needed to call a layer dead; twice as many when it was alive before"},
           {"late_share", 0.1, "last part of the run that a layer must be without gradient when it was alive before"},
           {"serves", 0.5, "share of its first loss to which a run comes that is served by layers frozen on purpose"},
           {"tiny", 1e-6, "size below which a constant gradient is none: what decay or rounding leaves"}},
          check};
}

}  // namespace osler::catalogue
