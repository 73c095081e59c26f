// batch-extreme: inputs far beyond the usual size.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The largest inputs are far beyond the size that normalised data has.

## Signature
In more than `share` of the batches the largest magnitude is above `size`.

## Why it matters
A single such number dominates the first layer's outputs and its gradient; pixels from 0 to 255 do the same in every
batch.

## When it is harmless
Inputs that are numbers of tokens or of categories and go into an embedding.

## References
- LeCun, Bottou, Orr, Mueller 1998, Efficient BackProp.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  Verdict verdict =
      judge_check(patient, {series_name::kBatchMagnitude, settings["size"], settings["share"], Severity::warning, 0.85,
                            "no batches were shown to the monitor: call monitor.batch(inputs, labels)",
                            "Inputs are far larger than networks are made for."});
  if (auto* seen = std::get_if<Observation>(&verdict)) {
    const double share = share_above(patient, *recorded(patient, series_name::kBatchMagnitude), settings["size"]);
    const bool some = share < settings["all"];
    seen->qualifiers["extent"] = some ? "some batches" : "all batches";
    if (some) seen->summary = "Inputs of " + per_cent(share) + " of the batches are far larger than all others.";
  }
  return verdict;
}

}  // namespace

Finding batch_extreme() {
  return {"batch-extreme",
          "The data holds extreme values",
          {Need::batch},
          kDoc,
          {{"size", 100, "magnitude beyond which inputs are not normalised (chosen; raw pixels reach 255)"},
           {"share", 0.02, "share of batches in which it may happen"},
           {"all", 0.5, "share of batches from which it is the scale of the data, not of some samples"}},
          check};
}

}  // namespace osler::catalogue
