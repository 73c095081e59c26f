// The rule by which a training is ended.
#include "osler/diagnosis/stop_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "diagnosis/lost_ground.h"
#include "diagnosis/wording.h"
#include "osler/run/role.h"

namespace osler {
namespace {

/// Roles of what a training is judged by, in the order in which they are asked.
constexpr std::array kObjectives = {"train-loss",        "reward",         "validation-loss",    "train-metric",
                                    "validation-metric", "train-accuracy", "validation-accuracy"};

struct Objective {
  std::string series;
  std::uint64_t points = 0;
};

Objective objective_of(const Report& report, const Run& run) {
  for (const char* role : kObjectives) {
    Objective longest;
    const auto named = report.roles.find(role);
    if (named == report.roles.end()) continue;
    for (const std::string& name : named->second) {
      const Series* series = run.find(name);
      if (series != nullptr && series->summary().points() > longest.points) {
        longest = {name, series->summary().points()};
      }
    }
    if (longest.points > 0) return longest;
  }
  return {};
}

/// Whether a finding says that there are no finite values any more.
bool is_about_nonfinite(const Observation& finding) {
  return finding.finding.starts_with("loss-nonfinite");
}

/// Whether not one of the newest values is finite: a log may have NaN where nothing was measured.
bool ends_nonfinite(const Series* series) {
  if (series == nullptr) return false;
  const auto recent = series->summary().recent();
  const std::size_t newest = std::min<std::size_t>(recent.size(), points_to_confirm(series->summary().points()));
  return std::none_of(recent.end() - static_cast<std::ptrdiff_t>(newest), recent.end(),
                      [](const auto& point) { return std::isfinite(point.value); });
}

bool is_objective(const Report& report, const std::string& series) {
  return std::any_of(kObjectives.begin(), kObjectives.end(), [&](const char* role) {
    const auto named = report.roles.find(role);
    return named != report.roles.end() &&
           std::find(named->second.begin(), named->second.end(), series) != named->second.end();
  });
}

bool higher_is_better(const Report& report, const std::string& series) {
  for (const char* role : {"reward", "train-accuracy", "validation-accuracy"}) {
    const auto named = report.roles.find(role);
    if (named != report.roles.end() &&
        std::find(named->second.begin(), named->second.end(), series) != named->second.end()) {
      return true;
    }
  }
  return guess_role(series).higher_is_better;
}

/// Whether and how the training has got worse: by what the finding rests on where that is a figure of merit, else by
/// the objective.
Ground ground_of(const Observation& finding, const Report& report, const Run& run, const std::string& objective) {
  std::string judged = objective;
  for (const Evidence& evidence : finding.evidence) {
    if (!is_objective(report, evidence.series)) continue;
    judged = evidence.series;
    break;
  }
  const Series* series = run.find(judged);
  return series == nullptr ? Ground::kept : ground_of(*series, higher_is_better(report, judged));
}

/// How certain it is that a training is past hope; 0 where nothing speaks for its end. What the newest values bear out
/// one by one is certain by itself.
double certainty_of(const Observation& finding, const StopRule& rule, const Report& report, const Run& run,
                    const std::string& objective) {
  if (finding.severity < rule.level) return 0;
  if (is_about_nonfinite(finding)) {
    // A model that is broken has no finite training loss either: NaN in the evaluations alone may be gaps.
    const Series* series = finding.evidence.empty() ? nullptr : run.find(finding.evidence.front().series);
    const Series* judged = run.find(objective);
    return ends_nonfinite(judged) && (series == nullptr || ends_nonfinite(series)) ? 1 : 0;
  }
  switch (ground_of(finding, report, run, objective)) {
    case Ground::kept:
      return 0;
    case Ground::above_start:
      // What has learned nothing may still be on its way up, as while a queue fills: that it lasts tells little.
      return finding.confidence >= rule.confidence ? finding.confidence : 0;
    case Ground::gain_lost:
      return finding.confidence;
  }
  return 0;
}

bool has_ended(const Run& run) {
  return std::any_of(run.marks().begin(), run.marks().end(), [&](const Mark& mark) {
    const bool end = mark.kind == Mark::Kind::finished || mark.kind == Mark::Kind::crashed;
    return end && mark.step >= run.steps().last;
  });
}

}  // namespace

std::string to_line(const StopReason& reason) {
  const Observation& finding = reason.finding;
  return fmt::format("{} ({}, {:.0f} % sure) since {}, first seen at {} points of {} and still there at {}: {}",
                     finding.finding, to_string(finding.severity), 100 * finding.confidence,
                     at_step(finding.first_step), reason.first_points, reason.objective, reason.points,
                     finding.summary);
}

std::uint64_t points_to_confirm(std::uint64_t points) {
  constexpr std::uint64_t kShare = 10;
  constexpr std::uint64_t kFewest = 3;
  constexpr std::uint64_t kMost = 100;
  return std::clamp(points / kShare, kFewest, kMost);
}

std::uint64_t points_to_last(std::uint64_t points) {
  constexpr std::uint64_t kShare = 4;
  constexpr std::uint64_t kFewest = 10;
  constexpr std::uint64_t kMost = 1000;
  return std::clamp(points / kShare, kFewest, kMost);
}

std::optional<StopReason> StopJudge::look(const Report& report, const Run& run) {
  const Objective objective = objective_of(report, run);
  std::map<std::string, Seen> seen;
  std::optional<StopReason> reason;
  for (const Observation& finding : report.findings) {
    const double certainty = certainty_of(finding, rule_, report, run, objective.series);
    if (certainty < rule_.lasting_confidence || objective.points < rule_.points || has_ended(run)) continue;
    const auto before = seen_.find(finding.finding);
    // A series that has fewer points than before was begun anew.
    const bool same_run = before != seen_.end() && before->second.newest <= objective.points;
    Seen now = same_run ? before->second : Seen{.first = objective.points, .sure = {}, .newest = 0};
    now.newest = objective.points;
    if (certainty < rule_.confidence) {
      now.sure = std::nullopt;
    } else if (!now.sure) {
      now.sure = objective.points;
    }
    seen[finding.finding] = now;
    const bool confirmed = now.sure && objective.points >= *now.sure + points_to_confirm(*now.sure);
    const bool lasts = objective.points >= now.first + points_to_last(now.first);
    if (!reason && (confirmed || lasts)) {
      reason = StopReason{finding, objective.series, confirmed ? *now.sure : now.first, objective.points};
    }
  }
  seen_ = std::move(seen);
  return reason;
}

}  // namespace osler
