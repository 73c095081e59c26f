// targets-broadcast: the loss compares every output with the targets of all samples.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Outputs of the shape [N, 1] are compared with targets of the shape [N], or the other way round. Broadcasting makes N x N
differences of them: every output is compared with the targets of all samples.

## Signature
In more than `share` of the looks at how the loss was computed, the outputs were stretched to N x N values before they
were compared, while the batch had N targets.

## Why it matters
The best answer to all targets at once is their mean: the model learns to give the same number for every sample, and the
loss stops at the variance of the targets.

## When it is harmless
Never on purpose: losses over all pairs compare outputs with each other.

## References
- Karpathy 2019, A Recipe for Training Neural Networks: broadcasting that goes unnoticed.
- PyTorch's own warning, "Using a target size that is different to the input size", which a log may hide.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_check(patient, {series_name::kCheckTargetsBroadcast, 0.5, settings["share"], Severity::warning, 0.96,
                               "the monitor in the training process did not look at how the loss is computed",
                               "The loss compares each output with the targets of all samples: outputs and targets "
                               "differ in shape, and broadcasting makes N x N of them."});
}

}  // namespace

Finding targets_broadcast() {
  return {"targets-broadcast",
          "Each output is compared with all targets",
          {Need::live},
          kDoc,
          {{"share", 0.5, "share of looks that may find it: a loss of several terms may be odd in one"}},
          check};
}

}  // namespace osler::catalogue
