// cannot-overfit-one-batch: the model does not even memorise a single batch.
#include <limits>

#include "diagnosis/probed.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Trained on one batch over and over, the model does not learn it by heart.

## Signature
The probe `overfit-one-batch` fails: the loss of that one batch does not come near its floor in the steps given.

## Why it matters
A healthy model memorises a batch within a few hundred steps. One that cannot has a fault that no tuning will mend: a
gradient that does not arrive, a loss that does not measure the task, dead units, a learning rate that is far off, labels
that contradict each other. The probe says which.

## When it is harmless
Where the noise is meant: strong augmentation inside the model, or a loss whose floor is not zero and unknown.

## References
- Karpathy 2019, A Recipe for Training Neural Networks: overfit one batch.
- Goodfellow, Bengio, Courville 2016, Deep Learning, section 11.5: fit a tiny dataset.
)";

Verdict check(const Patient& patient, const SettingValues&) {
  const auto probed = answered(patient, "overfit-one-batch", "overfit_one_batch");
  if (const auto* why = std::get_if<NotChecked>(&probed)) return *why;
  const auto& found = std::get<Experiment>(probed);
  if (found.outcome == Experiment::Outcome::undecided) return NotChecked{"the probe left it open: " + found.verdict};
  if (found.outcome == Experiment::Outcome::passed) return NotFound{};
  constexpr double kConfidence = 0.95;  // the probe has seen it happen
  Observation seen =
      observe_experiment(found, Severity::warning, kConfidence, "One batch is not memorised. " + found.verdict);
  seen.evidence.push_back(
      measured(found, "last-loss", std::numeric_limits<double>::quiet_NaN(), "the loss of the one batch at the end"));
  return seen;
}

}  // namespace

Finding cannot_overfit_one_batch() {
  return {"cannot-overfit-one-batch", "The model does not memorise a single batch", {Need::probe}, kDoc, {}, check};
}

}  // namespace osler::catalogue
