// vanishing-gradients: the global gradient norm is so small that updates no longer matter.
#include <algorithm>
#include <cmath>

#include "diagnosis/evidence/agent.h"
#include "diagnosis/evidence/solved.h"
#include "diagnosis/observe.h"
#include "signal/robust.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
The norm of the whole gradient is practically zero while the loss is not where it should be. The chain rule multiplies
one factor per layer; factors below one shrink the signal exponentially with depth (a sigmoid's slope is at most 0.25).

## Signature
A gradient norm below `warn_norm` (critical: below `critical_norm`) for at least `steps` logged values in a row; or a
norm that has collapsed to less than `collapse` of its own early level and stayed there, while the loss did not fall.

## Why it matters
The update is the learning rate times the gradient: with a norm of 1e-8 nothing moves, whatever the schedule does.

## When it is harmless
A model that has driven its loss to zero has nothing left to learn and no gradient either: a loss that fell by more
than `solved_share` of its start is not called ill. Nor is one that still falls, by `learning_share`, under tiny norms:
there the unit is small, not the signal. Nor is a tuned language model whose every answer is right. Values of exactly zero on single steps are skipped updates.

## References
- Hochreiter 1991; Bengio, Simard, Frasconi 1994, Learning long-term dependencies with gradient descent is difficult.
- Glorot and Bengio 2010; He et al. 2015, Deep Residual Learning for Image Recognition.
)";

/// The last stretch of points whose highest norm stays below `limit`: index of its first point, or the size if none.
std::size_t quiet_since(const signal::Curve& norm, double limit) {
  std::size_t first = norm.size();
  while (first > 0 && norm.high[first - 1] < limit) --first;
  return first;
}

double points_from(const signal::Curve& curve, std::size_t first) {
  double points = 0;
  for (std::size_t i = first; i < curve.size(); ++i) points += curve.count[i];
  return points;
}

/// The loss went almost all the way to zero: no gradient is what success looks like.
bool nearly_zero(const Patient& patient, double share) {
  const Reading* loss = patient.training();
  return loss != nullptr && loss->best >= 0 && loss->start > 0 && loss->end < (1 - share) * loss->start;
}

/// The loss still fell while the norm was tiny: then the norm is tiny by scale, not by illness.
bool still_learning(const Patient& patient, double since, double share) {
  const Reading* loss = patient.training();
  if (loss == nullptr || loss->size() < 8 || loss->negated) return false;
  const double then = loss->smoothed[loss->index_at(since)];
  return then - loss->end > std::max(share * std::abs(then), 2 * loss->noise.sigma);
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  const Reading* norm = patient.gradient_norm();
  if (norm == nullptr) return NotChecked{"no gradient norm in the log"};
  if (norm->curve.points() < settings["steps"]) {
    return NotChecked{"fewer than " + number(settings["steps"]) + " gradient norms"};
  }
  const std::size_t n = norm->size();
  const double early = signal::median(std::span(norm->curve.value).first(std::max<std::size_t>(1, n / 10)));
  double limit = settings["critical_norm"];
  Severity severity = Severity::critical;
  std::size_t since = quiet_since(norm->curve, limit);
  if (points_from(norm->curve, since) < settings["steps"]) {
    limit = settings["warn_norm"];
    severity = Severity::warning;
    since = quiet_since(norm->curve, limit);
  }
  if (points_from(norm->curve, since) < settings["steps"]) {
    limit = settings["collapse"] * early;
    since = quiet_since(norm->curve, limit);
  }
  // Where every answer of a group is right there is nothing left to learn from it.
  const auto progress = reward_progress(patient);
  if (progress && tunes_language_model(patient) && progress->near_top()) return NotFound{};
  const bool long_enough = points_from(norm->curve, since) >= std::max(settings["steps"], 0.05 * norm->curve.points());
  if (!long_enough || solved(patient) || nearly_zero(patient, settings["solved_share"]) ||
      still_learning(patient, norm->curve.step[since], settings["learning_share"])) {
    return NotFound{};
  }

  const double level = signal::median(std::span(norm->curve.value).subspan(since));
  const std::int64_t from = norm->step_at(since);
  Observation seen = observe(
      severity, confidence_of(level > 0 ? limit / level : 10), from, norm->last_step,
      norm->name + " is " + number(level) + " since " + at_step(from) + ": updates no longer change the weights.");
  seen.evidence.push_back(evidence(norm->name, from, norm->last_step, level, limit,
                                   "median norm " + number(level) + ", below " + number(limit) + " for " +
                                       number(points_from(norm->curve, since)) + " values; it began at " +
                                       number(early)));
  return seen;
}

}  // namespace

Finding vanishing_gradients() {
  return {"vanishing-gradients",
          "The gradient is practically zero",
          {Need::curve},
          kDoc,
          {{"critical_norm", 1e-7,
            "global norm below which nothing moves: a rate of 1e-3 times it is lost in single precision beside weights "
            "of 1e-2"},
           {"warn_norm", 1e-6, "global norm that is a warning: ten times that"},
           {"steps", 10, "logged values in a row that must lie below; a few may by chance"},
           {"collapse", 1e-4, "share of the early level that counts as collapsed when no absolute limit is crossed"},
           {"learning_share", 0.1,
            "fall of the loss while the norm is tiny that shows that the norm is small by scale alone"},
           {"solved_share", 0.99, "fall of the loss after which no gradient is simply success"}},
          check};
}

}  // namespace osler::catalogue
