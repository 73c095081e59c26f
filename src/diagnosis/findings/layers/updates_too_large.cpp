// updates-too-large: single steps rewrite the weights.
#include <algorithm>

#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "diagnosis/update_ratios.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Each update changes the weights by a large part of their own size.

## Signature
For three quarters of the run the update-to-weight ratio of a layer lies above `ratio`. It is a warning when the loss
does not clearly improve, or when it holds for at least `layers_share` of the layers; otherwise a note.

## Why it matters
A ratio of about 0.001 per step is healthy. At 0.1 ten steps replace a layer: nothing learned is kept, and the loss
jumps or diverges.

## When it is harmless
Layers that start at or near zero have large ratios in their first steps; biases and normalisation parameters are left
out.

## References
- Karpathy 2015, CS231n course notes: ratio of weights to updates.
- You, Gitman, Ginsburg 2017, Large Batch Training of Convolutional Networks.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  std::vector<UpdateRatio> ratios = update_ratios(patient, settings["fewest_points"]);
  if (ratios.empty()) {
    return NotChecked{"no update of a layer beside its weights with at least " + number(settings["fewest_points"]) +
                      " values"};
  }
  const auto all = static_cast<double>(ratios.size());
  std::erase_if(ratios, [&](const UpdateRatio& ratio) { return ratio.low <= settings["ratio"]; });
  if (ratios.empty()) return NotFound{};

  std::stable_sort(ratios.begin(), ratios.end(),
                   [](const UpdateRatio& a, const UpdateRatio& b) { return a.median > b.median; });
  const bool widespread = static_cast<double>(ratios.size()) >= settings["layers_share"] * all;
  const bool harmful = widespread || (patient.training() != nullptr && !training_improves(patient));
  const UpdateRatio& worst = ratios.front();
  Observation seen = observe(harmful ? Severity::warning : Severity::note,
                             confidence_of(worst.median / settings["ratio"]), worst.first_step, worst.last_step,
                             "Each step changes " + worst.layer + " by " + per_cent(worst.median) +
                                 " of its weights, about 0.1 % is healthy" +
                                 (ratios.size() > 1 ? "; so in " + std::to_string(ratios.size()) + " layers." : "."));
  name_layers(ratios, settings["ratio"], seen);
  return seen;
}

}  // namespace

Finding updates_too_large() {
  return {"updates-too-large",
          "Updates are too large against the weights",
          {Need::layer},
          kDoc,
          {{"fewest_points", 4, "logged updates needed to call it lasting"},
           {"ratio", 0.1, "update-to-weight ratio beyond which a few steps replace a layer (healthy: 1e-3)"},
           {"layers_share", 0.5, "share of the layers for which it is a warning whatever the loss does"}},
          check};
}

}  // namespace osler::catalogue
