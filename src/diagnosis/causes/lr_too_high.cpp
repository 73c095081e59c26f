// lr-too-high: the step is too long for the curvature.
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
Gradient descent is stable only while the learning rate stays below 2 / lambda, lambda being the largest curvature it
meets. Beyond that each step overshoots by more than it gains: the loss swings, climbs, or overflows.

## How it shows
Early NaN, divergence, swings throughout, a gradient norm that bounces or runs away; clipping that is always active.

## What else looks like it
Missing warm-up (only the first steps are bad), a bad batch (one spike, then recovery), exploding signal in a deep or
recurrent model (the norm is large at any learning rate), overflow in half precision (the loss scale collapses).

## References
- LeCun et al. 1998, Efficient BackProp.
- Smith 2017, Cyclical Learning Rates for Training Neural Networks: the range test.
- Cohen et al. 2021, edge of stability.
)";

std::vector<Clue> clues(const Patient& patient, const Findings&) {
  std::vector<Clue> found;
  const auto peak = peak_learning_rate(patient);
  // Rates beyond these are rare in working set-ups of any common optimizer.
  constexpr double kHigh = 0.5;
  constexpr double kLow = 1e-5;
  if (peak && *peak >= kHigh)
    found.push_back({0.8, "the learning rate reaches " + number(*peak) + ", high for any optimizer"});
  if (peak && *peak > 0 && *peak <= kLow) {
    found.push_back({-1.2, "the learning rate never exceeds " + number(*peak)});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Findings& findings) {
  const bool broken = findings.found("loss-nonfinite-at-start") != nullptr ||
                      findings.found("loss-diverging") != nullptr || findings.found("loss-nonfinite-later") != nullptr;
  std::vector<Remedy> list;
  list.push_back(divide_learning_rate(patient, broken ? 10 : 3));
  if (findings.found("loss-oscillating") != nullptr) {
    list.push_back(
        advice("If it oscillates only late, decay the rate sooner instead: cosine down to a tenth or less."));
  }
  list.push_back(clip_gradients(patient));
  list.push_back(
      advice("Find the range by a test: raise the rate from 1e-7 over 100 steps and stay below the point "
             "where the loss turns up."));
  return list;
}

}  // namespace

Cause lr_too_high() {
  return {
      "lr-too-high",
      "The learning rate is too high",
      kDoc,
      -1.0,
      {{"loss-nonfinite-at-start", 2.2, 0, "steps that are too long overflow at once"},
       {"loss-nonfinite-later", 1.4, 0, "steps that are too long end in overflow"},
       {"loss-diverging", 2.6, -0.2, "each step overshoots by more than it gains"},
       {"loss-oscillating", 2.6, -0.2, "the optimizer bounces across the valley"},
       {"exploding-gradients", 1.2, -0.2, "overshooting leads into ever steeper places"},
       {"loss-stuck-from-start", 0.4, 0, "a first step that is too long can saturate every unit for good"},
       {"vanishing-gradients", -0.8, 0, "the gradient is too small for the step to be too long"},
       {"overfitting", -0.6, 0, "training goes on improving, so the steps are not too long"}},
      "lr-range-test",
      "Run the LR range test, or repeat the first steps with a tenth of the rate: if the symptom is gone, this is it.",
      clues,
      nullptr,
      remedies};
}

}  // namespace osler::catalogue
