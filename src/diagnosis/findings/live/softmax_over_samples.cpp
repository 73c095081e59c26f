// softmax-over-samples: the softmax before the loss runs along the batch instead of the classes.
#include "diagnosis/recorded.h"
#include "run/series_names.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The softmax, or its logarithm, is taken along the first dimension of the outputs, the samples: the probabilities of a
class over all samples of the batch sum to one, not those of the classes of a sample.

## Signature
In more than `share` of the looks at how the loss was computed, the loss of a classifier worked directly on a softmax or
log-softmax along the samples.

## Why it matters
What the model learns is which sample of a batch is most like a class. The loss of guessing is ln(samples), answers
depend on the company of a sample, and a single sample has the probability one for every class.

## When it is harmless
Never before the loss of a classifier. Along the batch a softmax has its place in contrastive losses, which compare
samples on purpose and are not built on the loss of class indices.

## References
- PyTorch documentation of `softmax`: `dim` is the dimension along which the results sum to one.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  return judge_check(patient, {series_name::kCheckSoftmaxOverSamples, 0.5, settings["share"], Severity::warning, 0.96,
                               "the monitor in the training process did not look at how the loss is computed",
                               "The softmax before the loss runs over the samples of the batch, not over the classes: "
                               "its dimension is 0."});
}

}  // namespace

Finding softmax_over_samples() {
  return {"softmax-over-samples",
          "The softmax runs over samples, not classes",
          {Need::live},
          kDoc,
          {{"share", 0.5, "share of looks that may find it: a loss of several terms may be odd in one"}},
          check};
}

}  // namespace osler::catalogue
