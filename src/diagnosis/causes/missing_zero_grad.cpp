// missing-zero-grad: gradients pile up from step to step.
#include "diagnosis/configured.h"
#include "diagnosis/observe.h"
#include "diagnosis/remedy.h"
#include "signal/trend.h"

namespace osler::catalogue::cause {
namespace {

constexpr std::string_view kDoc = R"(
## What happens
The backward pass adds to the gradients that are there. When nothing clears them, each step follows the sum of all
gradients so far: an ever growing momentum that never forgets.

## How it shows
A gradient norm that grows step by step, about linearly, from the very first step; a loss that falls, overshoots, swings
in wide slow waves or climbs for good.

## What else looks like it
A learning rate that is too high (the norm bounces instead of adding up), gradient accumulation by design (the norm
drops after each update), exploding gradients (growth is exponential).

## References
- Paszke et al. 2019, PyTorch: An Imperative Style, High-Performance Deep Learning Library.
- Humbatova et al. 2020, Taxonomy of Real Faults in Deep Learning Systems.
)";

std::vector<Clue> clues(const Patient& patient, const Verdicts&) {
  std::vector<Clue> found;
  const Reading* norm = patient.gradient_norm();
  if (norm == nullptr || norm->size() < 10) return found;
  const signal::Trend trend = signal::trend_of(norm->curve.step, norm->curve.value);
  const double start = norm->start;
  if (trend.rises(0.01) && trend.tau > 0.7 && start > 0 && norm->end > 5 * start) {
    found.push_back({1.6, "the gradient norm adds up from " + number(start) + " to " + number(norm->end) +
                              " with hardly a step back"});
  } else if (!(norm->end > 2 * start)) {
    found.push_back({-1.5, "the gradient norm does not add up: " + number(start) + " at the start, " +
                               number(norm->end) + " at the end"});
  }
  return found;
}

std::vector<Remedy> remedies(const Patient& patient, const Verdicts&) {
  const auto parts = configured_number(patient, {"gradient_accumulation_steps", "accumulate_grad_batches"});
  std::vector<Remedy> list = {
      switch_to("Clear the gradients before every backward pass: optimizer.zero_grad().", "zero_grad", "on")};
  if (parts && *parts > 1) {
    list.push_back(advice("With " + number(*parts) + " accumulation steps, clear after every " + number(*parts) +
                          "th batch and divide the loss by " + number(*parts) + "."));
  } else {
    list.push_back(advice("If you accumulate by design, clear after each update and divide the loss by the count."));
  }
  return list;
}

}  // namespace

Cause missing_zero_grad() {
  return {"missing-zero-grad",
          "Gradients are not cleared between steps",
          kDoc,
          -2.8,
          {{"gradients-accumulating", 4.5, -1.0, "each gradient contains the one before it"},
           {"loss-diverging", 2.1, 0, "the sum of all gradients overshoots further and further"},
           {"exploding-gradients", 1.0, 0, "gradients that add up grow without bound"},
           {"updates-too-large", 1.5, 0, "each update contains all the former ones"},
           {"loss-oscillating", 0.9, 0, "a momentum that never forgets swings in wide waves"},
           {"weight-norm-exploding", 1.1, 0, "updates that add up inflate the weights"},
           {"clipping-always", 0.7, 0, "a sum of gradients exceeds any threshold"},
           {"loss-nonfinite-later", 0.6, 0, "gradients that add up end in overflow"},
           {"vanishing-gradients", -2.5, 0, "the gradient is small"},
           {"overfitting", -1.5, 0, "training goes on improving"}},
          "checkup",
          "Print the gradient norm on the same batch twice in a row without a step: twice the value confirms it.",
          clues,
          nullptr,
          remedies};
}

}  // namespace osler::catalogue::cause
