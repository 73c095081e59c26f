// parameters-not-optimized: trainable parameters that no optimizer knows.
#include "diagnosis/layers.h"
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Parameters of the model require gradients but are in no group of the optimizer.

## Signature
More than `count` parameter tensors are missing when the monitor starts.

## Why it matters
They receive gradients and never change. A layer created after the optimizer, or a list of parameters written by hand,
does this.

## When it is harmless
Several optimizers, each with its own part of the model, and layers kept fixed without saying requires_grad = false.

## References
- Paszke et al. 2019, PyTorch: An Imperative Style, High-Performance Deep Learning Library.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto missing = recorded(patient, series_name::kCheckParametersNotOptimized);
  if (!missing) return NotChecked{"the monitor in the training process did not look at it"};
  if (missing->last <= settings["count"]) return NotFound{};
  std::vector<std::string> names = recorded_under(patient, series_name::kParameterNotOptimizedOf);
  Observation seen = observe(Severity::warning, 0.97, missing->first_step, missing->last_step,
                             number(missing->last) + " trainable parameters are in no group of the optimizer" +
                                 (names.empty() ? "." : ": " + listed(names) + "."));
  seen.evidence.push_back(evidence(missing->series, missing->first_step, missing->last_step, missing->last,
                                   settings["count"], "parameter tensors without optimizer"));
  seen.layers = std::move(names);
  return seen;
}

}  // namespace

Finding parameters_not_optimized() {
  return {"parameters-not-optimized",
          "Trainable parameters are in no optimizer",
          {Need::live},
          kDoc,
          {{"count", 0, "parameter tensors that may be missing: none"}},
          check};
}

}  // namespace osler::catalogue
