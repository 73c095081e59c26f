// metric-bug: the metric is computed wrongly.
#include "diagnosis/evidence/loss_bounds.h"
#include "diagnosis/facts.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The model is fine, the figure of merit is not: argmax over the wrong axis, padding counted as answers, classes in
another order, a threshold on logits instead of probabilities, averages of averages, state that is never reset.

## How it shows
The loss is good and improves while the metric is bad, stands still, or moves the other way.

## What else looks like it
A loss that does not measure what the metric asks for, class imbalance (accuracy fine, F1 bad), overconfidence (loss
worse, accuracy flat), label smoothing.

## References
- Post 2018, A Call for Clarity in Reporting BLEU Scores.
- Musgrave, Belongie, Lim 2020, A Metric Learning Reality Check.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts& verdicts) {
  std::vector<Clue> found;
  if (const auto worse = worse_than_guessing(patient)) found.push_back({1.5, *worse});
  if (const auto low = accuracy_too_low_for_loss(patient)) found.push_back({3.4, *low + ": both cannot be right"});
  const auto& qualities = patient.validation_quality();
  if (qualities.empty() || qualities.front().curve.empty()) return found;
  const Reading& quality = qualities.front();
  if (only_metric_frozen(patient, verdicts)) {
    found.push_back({0.8, quality.name + " repeats itself while " + patient.validation()->name + " moves"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient&, const Verdicts&) {
  return {
      advice("Compute the metric from scratch, in plain code, on one batch, and compare with the logged value."),
      switch_to("Check that predictions and labels belong to the same samples; then axis, padding mask, class order, "
                "threshold, and whether the metric is reset per evaluation.",
                "metric_right", "on"),
      advice("Feed it perfect and random predictions: it must give its best value and chance.")};
}

}  // namespace

Cause metric_bug() {
  return {"metric-bug",
          "The metric is computed wrongly",
          kDoc,
          -2.6,
          {{"underfitting", 0.1, 0, "a metric that is computed wrongly looks as if nothing were learned"},
           {"metric-contradicts-loss", 4.2, 0, "loss and metric cannot both be right"},
           {"confidence-without-learning", 2.1, 0, "a metric that does not follow the loss may not see the model"},
           {"validation-frozen", 1.2, 0, "a metric that repeats itself may not be computed from the outputs"},
           {"validation-better-than-training", 1.1, 0, "the two may be averaged differently"},
           {"loss-exactly-zero", 0.8, 0, "a loss of zero may be a fault of the measurement"},
           {"accuracy-outruns-loss", 0.2, 0, "the two may not be measured on the same samples"},
           {"overconfidence", -0.5, 0, "a rising loss with a flat accuracy has a known reason"},
           {"loss-stuck-from-start", -0.9, 0, "the loss itself stands still"}},
          "",
          "Verify the metric from scratch on one batch whose right answer you know.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
