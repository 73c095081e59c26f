// gradients-mostly-zero: more than half of a layer's gradient is exactly zero.
#include <algorithm>

#include "diagnosis/configured.h"
#include "diagnosis/facts.h"
#include "diagnosis/layers.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "diagnosis/recorded.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Most elements of a layer's gradient are exactly zero, step after step.

## Signature
In the second half of the run three quarters of the logged zero shares of a layer lie above `zero_share`. Embedding
tables and experts are left out. A note when units are on in some batches and off in others, or when they are fewer than
`nearly_all` and training goes on improving, or an agent is trained, which sees few states at first.

## Why it matters
An exact zero comes from a unit that is switched off: behind a dead ReLU no weight gets a gradient, so the unit stays
dead, and that part of the layer is lost capacity.

## When it is harmless
A bias cancels before a normalisation, while its weight has a gradient: it is left out. A batch touches only some rows of an embedding table and some experts of a mixture. Pruned weights have no gradient by
design. With few samples in a batch many units are off by chance: below `small_batch` samples, or when no layer was seen
with units that stay silent, it is a note.

## References
- Lu et al. 2020, Dying ReLU and Initialization: Theory and Numerical Examples.
)";

/// Units that are off in one batch and on in another: few samples do that, and so do networks whose units were watched
/// and are alive.
bool takes_turns(const Patient& patient, const SettingValues& settings) {
  const auto size = batch_size(patient);
  if (size && *size < settings["small_batch"]) return true;
  const std::vector<LayerRecord> watched = activation_records(patient, "dead-share", 1);
  return !watched.empty() && std::all_of(watched.begin(), watched.end(), [&](const LayerRecord& layer) {
    return layer.record.late < settings["silent"];
  });
}

/// A bias without a slope beside a weight with one: it cancels.
bool cancels(const Patient& patient, std::string_view name, const SettingValues& settings) {
  const std::string weight = weight_beside(name);
  for (const Layer& layer : layers_in(patient, Role::layer_gradient)) {
    const Series* series = layer.name == weight ? layer.find({"zero-share"}) : nullptr;
    if (series == nullptr) continue;
    const signal::Curve curve = layer_curve(*series);
    const auto late = std::span(curve.value).subspan(curve.size() / 2);
    return !late.empty() && signal::quantile(late, 0.25) <= settings["zero_share"];
  }
  return false;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  bool checked = false;
  std::vector<std::string> silent;
  std::vector<Evidence> facts;
  double worst = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  for (const Layer& layer : layers_in(patient, Role::layer_gradient)) {
    const Series* series = layer.find({"zero-share"});
    if (series == nullptr || is_embedding(patient, layer.name)) continue;
    const signal::Curve curve = layer_curve(*series);
    if (curve.points() < settings["fewest_points"]) continue;
    checked = true;
    const auto late = std::span(curve.value).subspan(curve.size() / 2);
    const double share = signal::quantile(late, 0.25);
    if (share <= settings["zero_share"]) continue;
    if (cancels(patient, layer.name, settings)) continue;
    const Bucket total = *series->summary().total();
    if (silent.empty()) first_step = total.first_step;
    last_step = std::max(last_step, total.last_step);
    silent.push_back(layer.name);
    worst = std::max(worst, share);
    facts.push_back(evidence(series->name(), total.first_step, total.last_step, share, settings["zero_share"],
                             per_cent(signal::median(late)) + " of the gradient is exactly zero in the median"));
  }
  if (!checked) return NotChecked{"no share of zeros in the gradients of layers in the log"};
  if (silent.empty()) return NotFound{};

  // The few states that an agent has come to so far leave many units off.
  const bool narrow = worst < settings["nearly_all"] && patient.reinforcement();
  // Units that the first steps have yet to move.
  const bool early = worst < settings["nearly_all"] && monitored(patient) &&
                     static_cast<double>(patient.run().steps().last) < settings["first_steps"];
  const bool harmless = early || narrow || takes_turns(patient, settings) ||
                        (worst < settings["nearly_all"] && training_improves(patient));
  const Severity severity = harmless ? Severity::note : Severity::warning;
  Observation seen = observe(severity, confidence_of(worst / settings["zero_share"]), first_step, last_step,
                             "Most of the gradient is exactly zero in " + listed(silent) + ".");
  std::stable_sort(facts.begin(), facts.end(),
                   [](const Evidence& a, const Evidence& b) { return a.observed > b.observed; });
  constexpr std::size_t kShown = 4;
  facts.resize(std::min(facts.size(), kShown));
  seen.evidence = std::move(facts);
  seen.layers = std::move(silent);
  return seen;
}

}  // namespace

Finding gradients_mostly_zero() {
  return {
      "gradients-mostly-zero",
      "Most of a layer's gradient is exactly zero",
      {Need::layer},
      kDoc,
      {{"fewest_points", 4, "logged shares needed to call it lasting"},
       {"small_batch", 16, "samples below which many units are off by chance"},
       {"silent", 0.1, "share of silent units below which a watched layer is alive (chosen)"},
       {"first_steps", 100, "steps of a monitored training within which fewer than nearly all are worth a note only"},
       {"zero_share", 0.5,
        "share of exact zeros beyond which the layer is mostly off: more than a ReLU leaves, which is half"},
       {"nearly_all", 0.75, "share of zeros up to which a layer of a network that learns is worth a note only"}},
      check};
}

}  // namespace osler::catalogue
