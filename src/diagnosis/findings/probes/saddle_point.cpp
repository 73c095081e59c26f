// saddle-point: the gradient is near zero and a direction leads down.
#include <algorithm>

#include "diagnosis/probed.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Training stands where the gradient is next to nothing although the loss could fall: some direction bends down.

## Signature
In the probe `curvature`, the best step along the gradient would gain less than `gain` of the loss, and the most negative
eigenvalue of the Hessian is below minus `share` of the largest.

## Why it matters
It is not the end: with more noise, more momentum or another start training goes on, often in one sudden drop.

## When it is harmless
On the way: descent passes near saddles all the time. It matters when the loss has stood still for long. Small negative
eigenvalues are usual everywhere, which is why they are held against the largest one.

## References
- Dauphin et al. 2014, Identifying and Attacking the Saddle Point Problem in High-Dimensional Non-Convex Optimization.
- Sagun et al. 2017, Empirical Analysis of the Hessian of Over-Parametrized Neural Networks.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const auto probed = answered(patient, "curvature", "curvature");
  if (const auto* why = std::get_if<NotChecked>(&probed)) return *why;
  const auto& found = std::get<Experiment>(probed);
  const auto gain = found.value("gradient-gain");
  const Experiment::Value* lowest = value_of(found, "lowest-eigenvalue");
  const auto top = found.value("top-eigenvalue");
  if (!gain || lowest == nullptr || !top)
    return NotChecked{"the probe curvature gave no eigenvalues: " + found.verdict};
  const double limit = -settings["share"] * std::max(*top, 0.0);
  // A plateau bends nowhere worth the name; the probe passes there.
  const bool saddle = found.outcome == Experiment::Outcome::failed && *gain <= settings["gain"] &&
                      lowest->high.value_or(lowest->value) < limit;
  if (!saddle) return NotFound{};
  const double margin = limit < 0 ? lowest->value / limit : 4;
  Observation seen = observe_experiment(
      found, Severity::warning, confidence_of(margin),
      "Training rests on a saddle: the gradient leads nowhere, but the Hessian has an eigenvalue of " +
          number(lowest->value) + " (the largest is " + number(*top) + ").");
  seen.evidence.push_back(measured(found, "lowest-eigenvalue", limit, "the most negative eigenvalue of the Hessian"));
  seen.evidence.push_back(measured(found, "gradient-gain", settings["gain"],
                                   "share of the loss that a step along the gradient would gain"));
  return seen;
}

}  // namespace

Finding saddle_point() {
  return {"saddle-point",
          "The gradient is near zero while a direction leads down",
          {Need::probe},
          kDoc,
          {{"gain", 1e-3, "share of the loss below which a step along the gradient gains nothing"},
           {"share", 0.05, "of the largest eigenvalue: what is less negative is usual at any place"}},
          check};
}

}  // namespace osler::catalogue
