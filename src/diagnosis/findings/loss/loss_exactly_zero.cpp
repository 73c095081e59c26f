// loss-exactly-zero: the loss is exactly 0, so nothing is asked of the model.
#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnosis/evidence/solved.h"
#include "diagnosis/nonfinite.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The training loss is exactly 0 on every step, or drops to exactly 0 from a sizeable value and stays there.

## Signature
All values are exactly 0 (at least `fewest_points`); or the last `fewest_points` and more are, and the loss right before
them was still above `sizeable` of where it began.

## Why it matters
A loss of exactly 0 has no gradient. Usually no target reaches it: every label is masked, the mask is inverted, the
batch is empty, or a trainer writes 0 for steps that it skipped because of NaN.

## When it is harmless
Policy losses of reinforcement learning (GRPO, PPO) are 0 by construction at the first step of each batch and say
nothing. A loss that came down to 0 bit by bit was rounded by the log. Single parts of a loss may be 0.

## References
- Shao et al. 2024, DeepSeekMath: the GRPO objective.
)";

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* loss = patient.training();
  if (loss == nullptr) return no_loss_to_check(patient);
  const signal::Curve& curve = loss->curve;
  if (curve.points() < settings["fewest_points"]) {
    return NotChecked{"fewer than " + number(settings["fewest_points"]) + " losses"};
  }
  const auto& casts = patient.roles().in(Role::train_loss);
  const bool part = std::any_of(casts.begin(), casts.end(), [&](const Cast& cast) {
    return cast.series->name() == loss->name && cast.guess.component;
  });
  if (part) return NotChecked{"only parts of the loss are in the log, and a part may be 0"};

  std::size_t first = curve.size();
  double zeros = 0;
  while (first > 0 && curve.low[first - 1] == 0 && curve.high[first - 1] == 0) zeros += curve.count[--first];
  const bool always = first == 0;
  // Two decimals make a zero of 0.004: what had come down to the last digit that the log writes was rounded away.
  double finest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < first; ++i) {
    const double change = std::abs(curve.value[i] - curve.value[i - 1]);
    if (change > 0) finest = std::min(finest, change);
  }
  const bool dropped = first > 0 &&
                       std::abs(loss->smoothed[first - 1]) > settings["sizeable"] * std::abs(loss->start) &&
                       std::abs(curve.value[first - 1]) > settings["sizeable"] * std::abs(loss->start) &&
                       std::abs(curve.value[first - 1]) > settings["digits"] * finest;
  if (zeros < settings["fewest_points"] || (!always && !dropped) || all_answers_right(patient)) return NotFound{};

  const std::int64_t since = always ? loss->first_step : loss->step_at(first);
  Observation seen = observe(Severity::critical, always ? 0.97 : 0.9, since, loss->last_step,
                             always ? loss->name + " is exactly 0 on every step: no target reaches it."
                                    : loss->name + " fell from " + number(curve.value[first - 1]) +
                                          " to exactly 0 at " + at_step(since) + " and stays there.");
  seen.qualifiers["extent"] = always ? "throughout" : "late";
  seen.evidence.push_back(
      evidence(loss->name, since, loss->last_step, 0, 0,
               "the last " + number(zeros) + " of " + number(curve.points()) + " values are exactly 0"));
  return seen;
}

}  // namespace

Finding loss_exactly_zero() {
  return {
      "loss-exactly-zero",
      "The loss is exactly zero",
      {Need::curve},
      kDoc,
      {{"fewest_points", 5, "zeros in a row that it takes"},
       {"sizeable", 0.05,
        "share of the first loss that the last value before the zeros must exceed; less is a loss "
        "that came down and was rounded"},
       {"digits", 2.5, "times the smallest change in the log up to which the last value may have been rounded away"}},
      check,
      JudgedBy::loss};
}

}  // namespace osler::catalogue
