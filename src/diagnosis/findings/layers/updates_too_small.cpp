// updates-too-small: the updates are too small to change the weights within the run.
#include <algorithm>

#include "diagnosis/movement.h"
#include "diagnosis/observe.h"
#include "diagnosis/update_ratios.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Each update is a tiny fraction of the weights it changes.

## Signature
For three quarters of the run the update-to-weight ratio of a layer lies below `ratio`. It is a warning when that holds
for at least `layers_share` of the layers and the loss does not clearly improve; otherwise a note.

## Why it matters
A ratio of about 0.001 per step is healthy. At 1e-5 it takes a hundred thousand steps in one direction to change a
weight by its own size: the learning rate is too low, or the gradient does not arrive.

## When it is harmless
The end of a decaying schedule, layers that were lowered on purpose in fine-tuning, and a model that has converged.

## References
- Karpathy 2015, CS231n course notes: ratio of weights to updates.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  std::vector<UpdateRatio> ratios = update_ratios(patient, settings["fewest_points"]);
  if (ratios.empty()) {
    return NotChecked{"no update of a layer beside its weights with at least " + number(settings["fewest_points"]) +
                      " values"};
  }
  const auto all = static_cast<double>(ratios.size());
  std::erase_if(ratios, [&](const UpdateRatio& ratio) { return ratio.high >= settings["ratio"]; });
  if (ratios.empty()) return NotFound{};

  std::stable_sort(ratios.begin(), ratios.end(),
                   [](const UpdateRatio& a, const UpdateRatio& b) { return a.median < b.median; });
  const bool widespread = static_cast<double>(ratios.size()) >= settings["layers_share"] * all;
  const bool harmful = widespread && patient.training() != nullptr && !training_improves(patient);
  const UpdateRatio& worst = ratios.front();
  Observation seen =
      observe(harmful ? Severity::warning : Severity::note,
              confidence_of(settings["ratio"] / std::max(worst.median, 1e-3 * settings["ratio"])), worst.first_step,
              worst.last_step,
              "Updates are " + number(worst.median) + " of the weights in " + worst.layer + ", about 0.001 is healthy" +
                  (ratios.size() > 1 ? "; so in " + std::to_string(ratios.size()) + " layers." : "."));
  name_layers(ratios, settings["ratio"], seen);
  return seen;
}

}  // namespace

Finding updates_too_small() {
  return {"updates-too-small",
          "Updates are too small against the weights",
          {Need::layer},
          kDoc,
          {{"fewest_points", 4, "logged updates needed to call it lasting"},
           {"ratio", 1e-5, "update-to-weight ratio below which nothing moves in a run of usual length (healthy: 1e-3)"},
           {"layers_share", 0.5, "share of the layers for which it must hold to be a warning"}},
          check};
}

}  // namespace osler::catalogue
