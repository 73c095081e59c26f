// The standing of the second run: death and illness first, then the difference in numbers.
#include "diagnosis/standing.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/wording.h"

namespace osler {
namespace {

/// How a run ended, from bad to worst.
enum class Fate { sound, critical, nonfinite, crashed };

/// The crash that ended a run; one that the run got over is none.
const Mark* last_crash(const Report& report) {
  const Mark* crash = nullptr;
  for (const Mark& mark : report.marks) {
    if (mark.kind == Mark::Kind::crashed && mark.step >= report.steps.last) crash = &mark;
    if (mark.kind == Mark::Kind::finished) crash = nullptr;
  }
  return crash;
}

bool finished(const Report& report) {
  return std::any_of(report.marks.begin(), report.marks.end(),
                     [](const Mark& mark) { return mark.kind == Mark::Kind::finished; });
}

/// An objective of the run whose values are not finite to its end.
const SeriesComparison* lost_objective(const Comparison& comparison, Side SeriesComparison::*side) {
  for (const SeriesComparison& series : comparison.series) {
    const bool objective = series.role == Role::train_loss || series.role == Role::validation_loss;
    if (objective && (series.*side).lost_after) return &series;
  }
  return nullptr;
}

Fate fate_of(const Comparison& comparison, const Report& report, Side SeriesComparison::*side) {
  if (last_crash(report) != nullptr) return Fate::crashed;
  if (lost_objective(comparison, side) != nullptr) return Fate::nonfinite;
  return report.status == Status::critical ? Fate::critical : Fate::sound;
}

/// What befell a run, to follow its subject.
std::string told_fate(const Comparison& comparison, const Report& report, Side SeriesComparison::*side, Fate fate) {
  switch (fate) {
    case Fate::crashed:
      return "crashed at " + at_step(last_crash(report)->step);
    case Fate::nonfinite: {
      const Side& lost = lost_objective(comparison, side)->*side;
      return "has no finite value of " + lost.series + lost_since(lost);
    }
    case Fate::critical:
      return "is critical and the other is not: " + report.headline;
    case Fate::sound:
      break;
  }
  return {};
}

StandingReason reason_of(Fate fate) {
  if (fate == Fate::crashed) return StandingReason::crashed;
  return fate == Fate::nonfinite ? StandingReason::nonfinite : StandingReason::critical_finding;
}

std::string sentence(std::string text) {
  if (!text.ends_with('.')) text += '.';
  return text;
}

/// By the numbers where both have some.
Standing standing_by_difference(const SeriesComparison* judge, const CompareOptions& options) {
  if (judge == nullptr || !std::isfinite(judge->difference)) return Standing::unclear;
  const double gain = std::max(std::abs(judge->a.start - judge->a.end), std::abs(judge->b.start - judge->b.end));
  const bool apart =
      judge->difference_score >= options.score && std::abs(judge->difference) >= options.effect_share * gain;
  if (!apart) return Standing::same;
  return (judge->difference > 0) == judge->higher_is_better ? Standing::better : Standing::worse;
}

std::string told_difference(const Comparison& comparison, const SeriesComparison& judge) {
  const std::string where = " at " + place_on(comparison.axis, judge.to) + ", the end of what they share";
  const std::string gap =
      number(std::abs(judge.difference)) + " (" + number(judge.difference_score) + " standard errors)";
  switch (comparison.standing) {
    case Standing::worse:
    case Standing::better:
      return "The second run is " + std::string(to_string(comparison.standing)) + " than the first by " + gap + " in " +
             name_of(judge) + where + ".";
    case Standing::same:
      return "The second run is not better than the first: " + name_of(judge) + " differs by " + gap + where + ".";
    case Standing::unclear:
      break;
  }
  return {};
}

/// Whether the second run broke off: it does not say that it finished, and did not come to where the first one ends.
bool stopped_early(const Comparison& comparison, double end_a, double end_b, const CompareOptions& options) {
  if (options.still_grows || finished(comparison.b)) return false;
  if (!(end_b - comparison.from < options.early_share * (end_a - comparison.from))) return false;
  const SeriesComparison* judge = judge_of(comparison);
  if (judge == nullptr) return true;
  const double gain = std::abs(judge->a.start - judge->a.last);
  const double behind = judge->higher_is_better ? judge->a.last - judge->b.last : judge->b.last - judge->a.last;
  return behind > options.effect_share * gain;
}

}  // namespace

std::string_view to_string(Standing standing) {
  switch (standing) {
    case Standing::same:
      return "same";
    case Standing::better:
      return "better";
    case Standing::worse:
      return "worse";
    case Standing::unclear:
      break;
  }
  return "unclear";
}

std::string_view to_string(StandingReason reason) {
  switch (reason) {
    case StandingReason::crashed:
      return "crashed";
    case StandingReason::nonfinite:
      return "nonfinite";
    case StandingReason::critical_finding:
      return "critical-finding";
    case StandingReason::stopped_early:
      return "stopped-early";
    case StandingReason::difference:
      break;
  }
  return "difference";
}

std::string place_on(Axis axis, double at) {
  constexpr double kCountable = 1e15;
  if (axis == Axis::epoch || !(std::abs(at) < kCountable)) return std::string(to_string(axis)) + " " + number(at);
  if (axis == Axis::tokens) return "token " + std::to_string(std::llround(at));
  return at_step(std::llround(at));
}

std::string lost_since(const Side& side) {
  return std::isfinite(side.start) ? " after " + at_step(std::llround(*side.lost_after)) : " at all";
}

std::string name_of(const SeriesComparison& series) {
  return series.a.series == series.b.series ? series.a.series : series.a.series + " / " + series.b.series;
}

const SeriesComparison* judge_of(const Comparison& comparison) {
  for (const Role role :
       {Role::validation_loss, Role::validation_accuracy, Role::validation_metric, Role::reward, Role::train_loss}) {
    for (const SeriesComparison& series : comparison.series) {
      if (series.role == role) return &series;
    }
  }
  return nullptr;
}

void set_standing(Comparison& comparison, double end_a, double end_b, const CompareOptions& options) {
  const SeriesComparison* judge = judge_of(comparison);
  comparison.standing = standing_by_difference(judge, options);
  comparison.reason = StandingReason::difference;
  if (judge != nullptr) comparison.verdict = told_difference(comparison, *judge);
  const Fate a = fate_of(comparison, comparison.a, &SeriesComparison::a);
  const Fate b = fate_of(comparison, comparison.b, &SeriesComparison::b);
  // Numbers from before its death do not make a dead run as good as a living one.
  if (b != Fate::sound && a == Fate::sound) {
    comparison.standing = Standing::worse;
    comparison.reason = reason_of(b);
    comparison.verdict = sentence("The second run is worse than the first: it " +
                                  told_fate(comparison, comparison.b, &SeriesComparison::b, b));
  } else if (stopped_early(comparison, end_a, end_b, options)) {
    comparison.standing = Standing::worse;
    comparison.reason = StandingReason::stopped_early;
    comparison.verdict = "The second run is worse than the first: it stopped early, at " +
                         place_on(comparison.axis, end_b) + " where the first went to " +
                         place_on(comparison.axis, end_a) + ", before it was as good as the first one ends.";
  } else if (a > Fate::critical && b == Fate::sound && comparison.standing != Standing::worse) {
    comparison.standing = Standing::better;
    comparison.reason = reason_of(a);
    comparison.verdict =
        sentence("The second run is better: the first " + told_fate(comparison, comparison.a, &SeriesComparison::a, a));
  }
}

}  // namespace osler
