// edge-of-stability: the curvature is as large as the step size allows.
#include "diagnosis/probed.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The largest curvature is about as large as the optimizer's steps can bear. Beyond it each step overshoots.

## Signature
In the probe `curvature`, the largest eigenvalue of the Hessian is at least `ratio` of the limit of stability: 2 / lr for
plain gradient descent, 2 (1 + beta) / lr with momentum; for Adam the Hessian is scaled as Adam scales its steps and the
limit is 2 (1 + beta1) / (1 - beta1) / lr.

## Why it matters
The learning rate decides how sharp a place training can reach. At the edge the loss falls unevenly, and a higher rate,
or a batch that is worse than usual, tips it over.

## When it is harmless
Most of the time. Full-batch training goes to the edge by itself and keeps falling there, and noise holds training with
small batches below it. So it is a note, and matters together with swings or spikes.

## References
- Cohen et al. 2021, Gradient Descent on Neural Networks Typically Occurs at the Edge of Stability.
- Cohen et al. 2022, Adaptive Gradient Methods at the Edge of Stability.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto probed = answered(patient, "curvature", "curvature");
  if (const auto* why = std::get_if<NotChecked>(&probed)) return *why;
  const auto& found = std::get<Experiment>(probed);
  const auto ratio = found.value("stability-ratio");
  if (!ratio) return NotChecked{"the limit of stability of this optimizer is not known"};
  if (!(*ratio >= settings["ratio"])) return NotFound{};
  Observation seen =
      observe_experiment(found, Severity::note, confidence_of(*ratio / settings["ratio"]),
                         "The largest curvature is " + times(*ratio) + " what steps of this length bear: " +
                             (*ratio < 1 ? "training is at the edge of stability." : "steps overshoot."));
  seen.evidence.push_back(
      measured(found, "stability-ratio", settings["ratio"], "largest eigenvalue as a share of the limit of stability"));
  return seen;
}

}  // namespace

Finding edge_of_stability() {
  return {"edge-of-stability",
          "The curvature is as large as the learning rate allows",
          {Need::probe},
          kDoc,
          {{"ratio", 0.8, "of the limit; training at the edge hovers around all of it (Cohen et al. 2021)"}},
          check};
}

}  // namespace osler::catalogue
