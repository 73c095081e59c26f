// outputs-squashed-twice: a loss that expects raw outputs is given what a softmax or sigmoid has made of them.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss takes raw outputs and applies a softmax or a sigmoid itself, but the model has applied one already.

## Signature
In more than `share` of the looks at how the loss was computed, the log-softmax of a cross-entropy, or a
cross-entropy with logits, worked directly on the result of a softmax or a sigmoid.

## Why it matters
Outputs between 0 and 1 cannot be told apart well by a second softmax: the loss keeps a floor (1.46 for ten classes) even
where every answer is right, and gradients fade the surer the model is.

## When it is harmless
Never on purpose: training may get far all the same, more slowly and with a loss that means little.

## References
- Karpathy 2019, A Recipe for Training Neural Networks: "you passed softmaxed outputs to a loss that expects raw logits".
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_check(patient, {series_name::kCheckOutputsSquashedTwice, 0.5, settings["share"], Severity::warning, 0.96,
                               "the monitor in the training process did not look at how the loss is computed",
                               "The loss expects raw outputs, but a softmax or sigmoid has been applied to them "
                               "before: it keeps a floor that no training can pass."});
}

}  // namespace

Finding outputs_squashed_twice() {
  return {"outputs-squashed-twice",
          "Outputs are squashed before a loss that does it again",
          {Need::live},
          kDoc,
          {{"share", 0.5, "share of looks that may find it: a loss of several terms may be odd in one"}},
          check};
}

}  // namespace osler::catalogue
