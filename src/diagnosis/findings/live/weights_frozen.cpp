// weights-frozen: a trainable parameter never changes.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "diagnosis/layers.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
A parameter that should be trained never changes, while others do.

## Signature
Every logged update of a layer, of at least `fewest`, is exactly zero, and at least one other layer moves. Where only
the size of the weights is logged, it is the same to the last digit while that of another layer changes by more than
`others_moved`. A single block at one end of the network, in a run that learns, looks like freezing on purpose and is a
note, unless its gradients are in the log; so are parameters that were told not to require gradients. It is a warning all
the same where a monitor knows that an optimizer holds them, at a rate above zero: somebody takes the updates back.

## Why it matters
The layer stays at its initialisation: it is missing from the optimizer, cut off from the loss, or its updates are lost
to rounding.

## When it is harmless
Layers frozen on purpose in fine-tuning. Biases that start at zero and receive no gradient because a normalisation
follows.

## References
- Howard, Ruder 2018, Universal Language Model Fine-tuning for Text Classification.
)";

/// Parameters that were frozen on purpose, which may have been the purpose of another script.
std::optional<Observation> frozen_by_flag(const Patient& patient) {
  std::vector<std::string> names = recorded_under(patient, series_name::kParameterFrozenOf);
  // Those that were unfrozen later learn.
  std::erase_if(names, [&](const std::string& name) {
    return !(recorded(patient, series_name::completed(series_name::kParameterFrozenOf, name))->last > 0);
  });
  if (names.empty()) return std::nullopt;
  const auto record = *recorded(patient, series_name::completed(series_name::kParameterFrozenOf, names.front()));
  Observation seen = observe(Severity::note, 0.85, record.first_step, patient.run().steps().last,
                             listed(names) + " require no gradient and stay as they started.");
  seen.evidence.push_back(evidence(record.series, record.first_step, record.last_step,
                                   static_cast<double>(names.size()), 0, "parameter tensors that require no gradient"));
  seen.layers = std::move(names);
  return seen;
}

/// Whether a layer moved, by a series of its updates or of the size of its weights.
struct Stillness {
  std::string layer;
  const Series* series = nullptr;
  bool still = false;
};

/// Whether a layer receives a gradient that is more than rounding beside that of the others.
bool pulled(const Patient& patient, std::string_view name) {
  constexpr double kRounding = 1e-5;
  double own = -1;
  double largest = 0;
  for (const Layer& layer : layers_in(patient, Role::layer_gradient)) {
    const Series* series = layer.find({"norm", "max", "std"});
    const auto total = series != nullptr ? series->summary().total() : std::nullopt;
    if (!total) continue;
    if (layer.name == name) own = total->max;
    largest = std::max(largest, total->max);
  }
  return own < 0 || own > kRounding * largest;
}

std::vector<Stillness> by_updates(const Patient& patient, const SettingValues& settings) {
  std::vector<Stillness> layers;
  for (const Layer& layer : layers_in(patient, Role::layer_update)) {
    const Series* series = layer.find({"norm", "ratio", "max"});
    if (series == nullptr || static_cast<double>(series->summary().points()) < settings["fewest"]) continue;
    const Bucket total = *series->summary().total();
    // What normalisation follows takes its bias back: there is nothing to learn in it.
    if (layer.name.ends_with("bias") && !pulled(patient, layer.name)) continue;
    layers.push_back({layer.name, series, total.nonfinite == 0 && total.min == 0 && total.max == 0});
  }
  return layers;
}

/// The significant digits with which a value is written, up to nine.
int digits_of(double value) {
  constexpr int kMost = 9;
  if (value == 0 || !std::isfinite(value)) return 0;
  const double size = std::pow(10.0, std::floor(std::log10(std::abs(value))) + 1);
  for (int digits = 1; digits < kMost; ++digits) {
    const double unit = size * std::pow(10.0, -digits);
    if (std::abs(std::round(value / unit) * unit - value) < 1e-9 * std::abs(value)) return digits;
  }
  return kMost;
}

/// Where only the size of the weights was logged: one that is the same to the last digit, while others have changed so
/// far that rounding does not hide it.
std::vector<Stillness> by_weights(const Patient& patient, const SettingValues& settings) {
  std::vector<Stillness> layers;
  double farthest = 0;
  int digits = 0;  // that the log writes
  for (const Layer& layer : layers_in(patient, Role::layer_weight)) {
    const Series* series = layer.find({"norm", "std"});
    if (series == nullptr || is_vector(layer.name) ||
        static_cast<double>(series->summary().points()) < settings["fewest"]) {
      continue;
    }
    const Bucket total = *series->summary().total();
    if (total.nonfinite > 0 || !(total.max > 0)) continue;
    layers.push_back({layer.name, series, total.min == total.max});
    farthest = std::max(farthest, (total.max - total.min) / total.max);
    for (const Bucket& bucket : series->summary().buckets()) digits = std::max(digits, digits_of(bucket.last));
  }
  if (farthest < settings["others_moved"] || digits < settings["digits"]) layers.clear();
  return layers;
}

/// The layers that receive a gradient: they were meant to learn.
std::set<std::string, std::less<>> with_gradient(const Patient& patient) {
  std::set<std::string, std::less<>> names;
  for (const Layer& layer : layers_in(patient, Role::layer_gradient)) {
    const Series* series = layer.find({"norm", "max", "std"});
    const auto total = series != nullptr ? series->summary().total() : std::nullopt;
    if (total && total->max > 0) names.insert(layer.name);
  }
  return names;
}

/// A monitor has seen that an optimizer holds all of these, and every group has a rate above zero.
bool held_at_a_rate(const Patient& patient, const std::vector<std::string>& names) {
  if (!recorded(patient, series_name::kCheckParametersNotOptimized)) return false;
  for (const Cast& cast : patient.roles().in(Role::learning_rate)) {
    const auto total = cast.series->summary().total();
    if (total && !(total->max > 0)) return false;
  }
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto told = [&](std::string_view beginning) {
      const auto record = recorded(patient, series_name::completed(beginning, name));
      return record && record->highest > 0;
    };
    return !told(series_name::kParameterFrozenOf) && !told(series_name::kParameterNotOptimizedOf);
  });
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  std::vector<Stillness> layers = by_updates(patient, settings);
  const bool updates = !layers.empty();
  if (!updates) layers = by_weights(patient, settings);
  if (layers.empty()) return NotChecked{"no updates and no changing weights of layers in the log"};
  const auto learning = with_gradient(patient);
  std::vector<std::string> frozen;
  bool meant = false;  // one of them receives a gradient
  Observation seen = observe(Severity::warning, 0.9, 0, 0, "");
  std::size_t changes = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    changes += i > 0 && layers[i].still != layers[i - 1].still ? 1 : 0;
    if (!layers[i].still) continue;
    const Bucket total = *layers[i].series->summary().total();
    frozen.push_back(layers[i].layer);
    meant = meant || learning.contains(layers[i].layer);
    seen.first_step = total.first_step;
    seen.last_step = total.last_step;
    if (seen.evidence.size() < 4) {
      seen.evidence.push_back(evidence(
          layers[i].series->name(), total.first_step, total.last_step, total.max, total.min,
          "all " + std::to_string(total.count) +
              (updates ? " updates are exactly zero" : " sizes are " + number(total.max) + " to the last digit")));
    }
  }
  if (frozen.empty() || frozen.size() == layers.size()) {
    if (auto told = frozen_by_flag(patient)) return std::move(*told);
    return NotFound{};
  }
  const bool taken_back = updates && meant && held_at_a_rate(patient, frozen);
  const bool at_one_end = changes == 1 && (updates ? frozen.size() > 1 : !meant);
  const bool on_purpose = at_one_end && !taken_back;
  if (on_purpose && training_improves(patient)) {
    seen.severity = Severity::note;
    seen.confidence = 0.6;
  }
  seen.summary = listed(frozen) + " never changed while other layers did.";
  seen.layers = std::move(frozen);
  return seen;
}

}  // namespace

Finding weights_frozen() {
  return {"weights-frozen",
          "A trainable parameter never changes",
          {Need::layer, Need::live},
          kDoc,
          {{"fewest", 5, "logged updates or sizes needed to call a layer frozen"},
           {"others_moved", 0.003, "change of another layer's weights, as a share, that rounding cannot hide"},
           {"digits", 5, "significant digits that the log must write: rounding to fewer makes anything the same"}},
          check};
}

}  // namespace osler::catalogue
