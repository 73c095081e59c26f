// updates-lost-to-precision: updates are too small to change weights in their number format.
#include <algorithm>

#include "diagnosis/configured.h"
#include "diagnosis/facts.h"
#include "diagnosis/layers.h"
#include "diagnosis/recorded.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Weights kept in half precision do not change although they receive a gradient: the update is smaller than the distance
to the next number.

## Signature
The share of a layer's weights that had a gradient and did not change in a step, as the median over the last third, is
above `share` in some layer; above `critical` it is critical. While the loss still falls, or is below a twentieth of
where it began, it is a note.

## Why it matters
Training stands still bit by bit, at the small learning rates of late training first.

## When it is harmless
Optimizers that keep a master copy in full precision: then the copy is what learns. Gradients that are tiny by chance in
a few steps. Training that goes on all the same: the larger updates get through, and where little is left to learn all
are small.

## References
- Micikevicius et al. 2018, Mixed Precision Training.
- Zamirai, Zhang, Aberger, De Sa 2020, Revisiting BFloat16 Training.
)";

/// The larger updates get through, or there is little left to learn.
bool learns_all_the_same(const Patient& patient) {
  const Reading* loss = patient.training();
  return loss != nullptr && (still_falls(*loss) || fits_training_set(patient));
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  std::vector<LayerRecord> lost;
  bool any = false;
  for (const Layer& layer : layers_in(patient, Role::layer_update)) {
    const Series* series = layer.find({"lost-share"});
    const auto record = series == nullptr ? std::nullopt : recorded(patient, series->name());
    if (!record || record->points < settings["fewest"]) continue;
    any = true;
    if (record->late > settings["share"]) lost.push_back({layer.name, *record});
  }
  if (!any) return NotChecked{"no lost updates were counted: the monitor does that for weights in half precision"};
  if (lost.empty()) return NotFound{};
  const LayerRecord& worst =
      *std::max_element(lost.begin(), lost.end(),
                        [](const LayerRecord& a, const LayerRecord& b) { return a.record.late < b.record.late; });
  const Severity graveness = learns_all_the_same(patient)               ? Severity::note
                             : worst.record.late > settings["critical"] ? Severity::critical
                                                                        : Severity::warning;
  Observation seen = observe(
      graveness, confidence_of(worst.record.late / settings["share"]), worst.record.first_step, worst.record.last_step,
      per_cent(worst.record.late) + " of the updates of " + worst.layer + " are lost to its number format.");
  for (const LayerRecord& layer : lost) {
    seen.layers.push_back(layer.layer);
    if (seen.evidence.size() >= 4) continue;
    seen.evidence.push_back(evidence(layer.record.series, layer.record.first_step, layer.record.last_step,
                                     layer.record.late, settings["share"], "median share of lost updates"));
  }
  return seen;
}

}  // namespace

Finding updates_lost_to_precision() {
  return {"updates-lost-to-precision",
          "Updates are lost to the number format",
          {Need::layer},
          kDoc,
          {{"share", 0.5, "share of a layer's updates that vanish"},
           {"critical", 0.95, "share from which the layer has stopped learning"},
           {"fewest", 4, "measured steps needed"}},
          check};
}

}  // namespace osler::catalogue
