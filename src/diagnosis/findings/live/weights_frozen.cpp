// weights-frozen: a trainable parameter never changes.
#include <optional>
#include <utility>

#include "diagnosis/layers.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "diagnosis/recorded.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
A parameter that should be trained never changes, while others do.

## Signature
Every logged update of a layer, of at least `fewest`, is exactly zero, and at least one other layer moves. A single
block at one end of the network, in a run that learns, looks like freezing on purpose and is a note; so are parameters
that were told not to require gradients.

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
  constexpr std::string_view kSeries = "osler/check/parameters-frozen/";
  std::vector<std::string> names = recorded_under(patient, kSeries);
  if (names.empty()) return std::nullopt;
  const auto record = *recorded(patient, std::string(kSeries) + names.front());
  Observation seen = observe(Severity::note, 0.85, record.first_step, patient.run().steps().last,
                             listed(names) + " require no gradient and stay as they started.");
  seen.evidence.push_back(evidence(record.series, record.first_step, record.last_step,
                                   static_cast<double>(names.size()), 0, "parameter tensors that require no gradient"));
  seen.layers = std::move(names);
  return seen;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  std::vector<std::string> frozen;
  std::vector<bool> still;
  Observation seen = observe(Severity::warning, 0.9, 0, 0, "");
  for (const Layer& layer : layers_in(patient, Role::layer_update)) {
    const Series* series = layer.find({"norm", "ratio", "max"});
    if (series == nullptr || static_cast<double>(series->summary().points()) < settings["fewest"]) continue;
    const Bucket total = *series->summary().total();
    still.push_back(total.nonfinite == 0 && total.min == 0 && total.max == 0);
    if (!still.back()) continue;
    frozen.push_back(layer.name);
    seen.first_step = total.first_step;
    seen.last_step = total.last_step;
    if (seen.evidence.size() < 4) {
      seen.evidence.push_back(evidence(series->name(), total.first_step, total.last_step, 0, 0,
                                       "all " + std::to_string(total.count) + " updates are exactly zero"));
    }
  }
  if (still.empty()) return NotChecked{"no updates of layers in the log"};
  if (frozen.empty() || frozen.size() == still.size()) {
    if (auto told = frozen_by_flag(patient)) return std::move(*told);
    return NotFound{};
  }
  std::size_t changes = 0;
  for (std::size_t i = 1; i < still.size(); ++i) changes += still[i] != still[i - 1] ? 1 : 0;
  if (changes == 1 && frozen.size() > 1 && training_improves(patient)) {
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
          {{"fewest", 5, "logged updates needed to call a layer frozen"}},
          check};
}

}  // namespace osler::catalogue
