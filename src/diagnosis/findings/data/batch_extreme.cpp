// batch-extreme: inputs far beyond the usual size.
#include "diagnosis/recorded.h"

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
  return judge_check(patient, {"osler/batch/magnitude", settings["size"], settings["share"], Severity::warning, 0.85,
                               "no batches were shown to the monitor: call monitor.batch(inputs, labels)",
                               "Inputs are far larger than networks are made for."});
}

}  // namespace

Finding batch_extreme() {
  return {"batch-extreme",
          "The data holds extreme values",
          {Need::batch},
          kDoc,
          {{"size", 100, "magnitude beyond which inputs are hardly normalised (seeds)"},
           {"share", 0.02, "share of batches in which it may happen"}},
          check};
}

}  // namespace osler::catalogue
