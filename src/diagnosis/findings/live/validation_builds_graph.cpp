// validation-builds-graph: validation keeps a graph it does not need.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Outputs computed for validation require gradients.

## Signature
More than `share` of the validation outputs shown to the monitor require gradients.

## Why it matters
The graph of every validation batch is kept as long as its output is: memory grows, validation is slower, and a stray
backward() would train on validation data.

## When it is harmless
Validation measures that need gradients, such as sharpness.

## References
- Paszke et al. 2019, PyTorch: An Imperative Style, High-Performance Deep Learning Library.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_check(patient,
                     {series_name::kCheckValidationBuildsGraph, 0.5, settings["share"], Severity::warning, 0.95,
                      "the monitor in the training process did not look at it: call monitor.validation_batch(output)",
                      "Validation outputs require gradients: memory and time go into a graph that nobody uses."});
}

}  // namespace

Finding validation_builds_graph() {
  return {"validation-builds-graph",
          "Validation builds a graph for gradients",
          {Need::live},
          kDoc,
          {{"share", 0, "share of validation outputs that may require gradients"}},
          check};
}

}  // namespace osler::catalogue
