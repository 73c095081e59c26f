// sharp-minimum: small changes of the weights cost much.
#include "diagnosis/probed.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The loss rises steeply around the weights: a small random change of them costs a large part of what was learned.

## Signature
The probe `sharpness` moves every weight tensor by 5 % of its norm in random directions; the loss rises by more than
`ratio` of itself on average, and by `least_cost` of what training or validation had gained. A warning when the whole interval of the repeats lies above, a note when only its mean does.

## Why it matters
New data shifts the loss surface much as a shift of the weights would. Sharp minima, where large batches tend to end,
often generalise worse than flat ones.

## When it is harmless
Early in training, and where the loss is close to zero: a share of next to nothing is next to nothing. Sharpness also
depends on how weights are scaled, so compare only runs of the same model.

## References
- Keskar et al. 2017, On Large-Batch Training for Deep Learning: Generalization Gap and Sharp Minima.
- Foret et al. 2021, Sharpness-Aware Minimization for Efficiently Improving Generalization.
- Dinh et al. 2017, Sharp Minima Can Generalize For Deep Nets.
)";

/// Both losses have gone so far down that a share of what is left of them costs hardly anything of what was learned.
bool costs_next_to_nothing(const Patient& patient, double ratio, double least) {
  const auto costs = [&](const Reading* loss) {
    return loss == nullptr || loss->negated || !(loss->start > 0) || loss->best < 0 ||
           ratio * loss->end > least * (loss->start - loss->end);
  };
  return !costs(patient.training()) && !costs(patient.validation());
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto probed = answered(patient, "sharpness", "sharpness");
  if (const auto* why = std::get_if<NotChecked>(&probed)) return *why;
  const auto& found = std::get<Experiment>(probed);
  const Experiment::Value* ratio = value_of(found, "ratio");
  if (ratio == nullptr) return NotChecked{"the probe sharpness gave no ratio: " + found.verdict};
  const double limit = settings["ratio"];
  if (!(ratio->value > limit) || costs_next_to_nothing(patient, ratio->value, settings["least_cost"])) {
    return NotFound{};
  }
  const bool certain = ratio->low.value_or(ratio->value) > limit;
  Observation seen =
      observe_experiment(found, certain ? Severity::warning : Severity::note, confidence_of(ratio->value / limit),
                         "The minimum is sharp: moving the weights by 5 % of their size raises the loss by " +
                             per_cent(ratio->value) + ".");
  seen.evidence.push_back(measured(found, "ratio", limit, "relative rise of the loss under random perturbations"));
  if (found.value("worst-ratio")) {
    seen.evidence.push_back(measured(found, "worst-ratio", limit, "the same in the worst direction found"));
  }
  return seen;
}

}  // namespace

Finding sharp_minimum() {
  return {"sharp-minimum",
          "Small changes of the weights raise the loss steeply",
          {Need::probe},
          kDoc,
          {{"ratio", 0.1, "relative rise under a perturbation of 5 % from which a minimum counts as sharp (chosen)"},
           {"least_cost", 0.005, "rise as a share of what a loss had gained that costs something (chosen)"}},
          check};
}

}  // namespace osler::catalogue
