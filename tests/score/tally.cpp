// Counts what was found, missed and falsely alarmed.
#include "score/tally.h"

#include <algorithm>
#include <cmath>

#include "score/label.h"

namespace osler::score {
namespace {

constexpr std::size_t kFirstCauses = 3;  // as many as a report shows at first

bool holds(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool serious(const Observation& observation) {
  return observation.severity >= Severity::warning;
}

void count_causes(GroupTally& group, const Outcome& outcome, bool found) {
  if (outcome.subject->truth.causes.empty()) return;
  const std::optional<std::size_t> rank = cause_rank(outcome);
  const bool first = rank && *rank == 0;
  const bool in_three = rank && *rank < kFirstCauses;
  ++group.causes_known;
  group.cause_first += first;
  group.cause_in_three += in_three;
  group.found_causes_known += found;
  group.found_cause_first += found && first;
  group.found_cause_in_three += found && in_three;
}

void count_group(GroupTally& group, const Outcome& outcome) {
  const Subject& subject = *outcome.subject;
  ++group.logs;
  group.unread += outcome.error.has_value();
  group.unjudged += !outcome.error && outcome.status == Status::insufficient_data;
  if (!subject.decided) return;
  if (subject.truth.healthy) {
    ++group.healthy;
    group.false_alarms += call_of(outcome) == Call::false_alarm;
    group.with_note += has_note(outcome);
    group.faultless += subject.planted.empty();
    group.faultless_alarms += subject.planted.empty() && call_of(outcome) == Call::false_alarm;
    return;
  }
  const bool found = call_of(outcome) == Call::found;
  ++group.sick;
  group.found += found;
  group.showing += subject.shows;
  group.showing_found += subject.shows && found;
  count_causes(group, outcome, found);
  if (const std::optional<bool> well = well_dated(outcome)) {
    ++group.dated;
    group.dated_well += *well;
  }
}

void count_findings(std::map<std::string, FindingTally>& findings, const Outcome& outcome) {
  if (!outcome.subject->decided) return;
  const simulate::Truth& truth = outcome.subject->truth;
  if (!truth.healthy && !truth.finding.empty()) {
    FindingTally& main = findings[truth.finding];
    const std::vector<std::string> same = with_equivalents({truth.finding});
    ++main.expected;
    main.found += call_of(outcome) == Call::found;
    main.found_exactly += std::any_of(outcome.findings.begin(), outcome.findings.end(), [&](const Observation& seen) {
      return serious(seen) && holds(same, seen.finding);
    });
  }
  for (const Observation& seen : outcome.findings) {
    if (!serious(seen)) continue;
    FindingTally& counts = findings[seen.finding];
    ++counts.reported;
    counts.reported_true += is_true(truth, seen.finding);
  }
}

void count_reliability(Tally& tally, const Outcome& outcome) {
  const simulate::Truth& truth = outcome.subject->truth;
  if (!outcome.subject->decided) return;
  for (const Observation& seen : outcome.findings) {
    if (serious(seen)) count_into(tally.findings_reliability, seen.confidence, is_true(truth, seen.finding));
  }
  // Where any of several causes would do, nobody knows how probable each one was.
  const Subject& subject = *outcome.subject;
  if (subject.planted.empty() || (subject.source != Source::population && truth.causes.size() != 1)) return;
  for (std::size_t i = 0; i < std::min(kFirstCauses, outcome.causes.size()); ++i) {
    const WeighedCause& cause = outcome.causes[i];
    count_into(tally.causes_reliability, cause.probability, holds(subject.planted, cause.cause));
  }
}

void count_planted(Tally& tally, const Outcome& outcome) {
  const Subject& subject = *outcome.subject;
  if (!subject.decided || subject.truth.healthy) return;
  for (const std::string& cause : subject.planted) count_group(tally.by_cause[cause], outcome);
  if (subject.truth.causes.empty()) return;
  ++tally.causes_said[subject.truth.causes.front()][outcome.causes.empty() ? "(none)" : outcome.causes.front().cause];
}

}  // namespace

bool is_true(const simulate::Truth& truth, const std::string& id) {
  return holds(truth.accept, id) || holds(truth.tolerate, id);
}

std::vector<ReliabilityBin> empty_bins() {
  std::vector<ReliabilityBin> bins;
  const std::vector<double> edges = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1};
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) bins.push_back({edges[i], edges[i + 1], 0, 0, 0});
  return bins;
}

void count_into(std::vector<ReliabilityBin>& bins, double confidence, bool right) {
  const auto bin = std::find_if(bins.begin(), bins.end() - 1,
                                [&](const ReliabilityBin& candidate) { return confidence < candidate.to; });
  ++bin->count;
  bin->right += right;
  bin->confidence_sum += confidence;
}

double calibration_error(const std::vector<ReliabilityBin>& bins) {
  double apart = 0;
  std::size_t count = 0;
  for (const ReliabilityBin& bin : bins) {
    apart += std::abs(bin.confidence_sum - static_cast<double>(bin.right));
    count += bin.count;
  }
  return count == 0 ? 0 : apart / static_cast<double>(count);
}

std::string_view to_string(Call call) {
  switch (call) {
    case Call::found:
      return "found";
    case Call::missed:
      return "missed";
    case Call::clean:
      return "clean";
    case Call::false_alarm:
      return "false-alarm";
    case Call::open:
      return "open";
  }
  return "";
}

Call call_of(const Outcome& outcome) {
  const Subject& subject = *outcome.subject;
  if (!subject.decided) return Call::open;
  if (subject.truth.healthy) return untrue(outcome).empty() ? Call::clean : Call::false_alarm;
  const bool found = std::any_of(outcome.findings.begin(), outcome.findings.end(), [&](const Observation& seen) {
    return serious(seen) && holds(subject.truth.accept, seen.finding);
  });
  return found ? Call::found : Call::missed;
}

std::vector<const Observation*> untrue(const Outcome& outcome) {
  std::vector<const Observation*> found;
  for (const Observation& seen : outcome.findings) {
    if (serious(seen) && !is_true(outcome.subject->truth, seen.finding)) found.push_back(&seen);
  }
  return found;
}

bool has_note(const Outcome& outcome) {
  return std::any_of(outcome.findings.begin(), outcome.findings.end(),
                     [](const Observation& seen) { return !serious(seen); });
}

std::optional<std::size_t> cause_rank(const Outcome& outcome) {
  for (std::size_t i = 0; i < outcome.causes.size(); ++i) {
    if (holds(outcome.subject->truth.causes, outcome.causes[i].cause)) return i;
  }
  return std::nullopt;
}

std::optional<bool> well_dated(const Outcome& outcome) {
  const simulate::Truth& truth = outcome.subject->truth;
  if (!truth.begins) return std::nullopt;
  const Observation* told = nullptr;
  for (const Observation& seen : outcome.findings) {
    if (!serious(seen) || !holds(truth.accept, seen.finding)) continue;
    if (told == nullptr || seen.finding == truth.finding) told = &seen;
  }
  if (told == nullptr) return std::nullopt;
  return told->first_step >= truth.begins->first && told->first_step <= truth.begins->second;
}

Tally tally(const std::vector<const Outcome*>& outcomes) {
  Tally tally;
  tally.findings_reliability = empty_bins();
  tally.causes_reliability = empty_bins();
  for (const Outcome* outcome : outcomes) {
    const Subject& subject = *outcome->subject;
    count_group(subject.certain ? tally.all : tally.doubtful, *outcome);
    if (!subject.certain) continue;
    count_group(tally.by_label[subject.label], *outcome);
    count_group(tally.by_family[subject.family], *outcome);
    if (!subject.domain.empty()) count_group(tally.by_domain[subject.domain], *outcome);
    count_findings(tally.by_finding, *outcome);
    count_reliability(tally, *outcome);
    count_planted(tally, *outcome);
  }
  return tally;
}

std::vector<Figure> figures(const GroupTally& group) {
  std::vector<Figure> all = {
      {"found", "sick runs found", group.found, group.sick},
      {"found_where_the_log_shows_it", "of them, where the log can show it", group.showing_found, group.showing},
      {"false_alarms", "healthy runs with a false alarm", group.false_alarms, group.healthy},
      {"faultless_alarms", "of those in which no fault was planted", group.faultless_alarms, group.faultless},
      {"healthy_with_a_note", "healthy runs with a note", group.with_note, group.healthy},
      {"cause_first", "right cause first", group.cause_first, group.causes_known},
      {"cause_in_three", "right cause among three", group.cause_in_three, group.causes_known},
      {"cause_first_if_found", "right cause first, where found", group.found_cause_first, group.found_causes_known},
      {"cause_in_three_if_found", "right cause among three, where found", group.found_cause_in_three,
       group.found_causes_known},
      {"start_step", "begins where it truly did", group.dated_well, group.dated},
      {"unread", "logs not read", group.unread, group.logs},
      {"unjudged", "logs read, but called too little to judge", group.unjudged, group.logs}};
  // Said of every run, it says nothing.
  if (group.faultless == group.healthy) all.erase(all.begin() + 3);
  if (group.showing == group.sick) all.erase(all.begin() + 1);
  std::erase_if(all, [](const Figure& figure) { return figure.whole == 0; });
  return all;
}

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::pair<double, double> wilson(std::size_t part, std::size_t whole) {
  if (whole == 0) return {0, 1};
  constexpr double kZ = 1.959964;  // 95 % of a normal distribution lie within so many deviations
  const auto n = static_cast<double>(whole);
  const double p = share(part, whole);
  const double scale = 1 + kZ * kZ / n;
  const double middle = (p + kZ * kZ / (2 * n)) / scale;
  const double half = kZ / scale * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

}  // namespace osler::score
