// logit-growth: the outputs before the softmax grow without bound.
#include "diagnosis/layers.h"
#include "diagnosis/movement.h"
#include "diagnosis/recorded.h"
#include "run/series_names.h"
#include "signal/trend.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The numbers that go into the last softmax grow on and on.

## Signature
The largest logit of the traced steps, late against early in the run, has grown by `growth`, is above `size`, and still
grows significantly over its second half.

## Why it matters
The model becomes ever surer without becoming better: calibration suffers, half precision overflows, and with an
attention model a sudden divergence follows.

## When it is harmless
A classifier that fits its training set perfectly drives its logits up slowly; it is late overfitting, not a fault of
its own. While training clearly improves it is a note.

## References
- Chowdhery et al. 2022, PaLM: Scaling Language Modeling with Pathways (the z-loss).
- Wortsman et al. 2023, Small-scale Proxies for Large-scale Transformer Training Instabilities.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto logits = recorded(patient, series_name::kLogitsMax);
  if (!logits || logits->points < settings["fewest"]) {
    return NotChecked{"no logits were recorded: the monitor in the training process does that"};
  }
  if (logits->late < settings["size"] || logits->late < settings["growth"] * logits->early) return NotFound{};
  const signal::Curve curve = layer_curve(*patient.run().find(logits->series));
  const std::size_t half = curve.size() / 2;
  const signal::Trend trend =
      signal::trend_of(std::span(curve.step).subspan(half), std::span(curve.value).subspan(half));
  if (!(trend.slope > 0) || trend.p_value > settings["p"]) return NotFound{};
  Observation seen = observe(
      training_improves(patient) ? Severity::note : Severity::warning,
      confidence_of(logits->late / (settings["growth"] * logits->early)), logits->first_step, logits->last_step,
      "The largest logit grew from " + number(logits->early) + " to " + number(logits->late) + " and still grows.");
  seen.evidence.push_back(evidence(logits->series, logits->first_step, logits->last_step, logits->late,
                                   settings["size"], "grew by " + times(logits->late / logits->early)));
  return seen;
}

}  // namespace

Finding logit_growth() {
  return {"logit-growth",
          "Logits grow without bound",
          {Need::activation},
          kDoc,
          {{"growth", 3, "size in the last third over that in the first from which it is more than getting sure"},
           {"size", 30,
            "a logit this far above the others leaves a probability of 1e-13: single precision ends soon after"},
           {"p", 0.01, "significance of the growth over the second half"},
           {"fewest", 9, "traced steps needed to speak of growth"}},
          check};
}

}  // namespace osler::catalogue
