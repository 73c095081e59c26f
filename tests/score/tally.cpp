// Counts hits, misses and false alarms.
#include "score/tally.h"

#include <algorithm>

namespace osler::score {
namespace {

bool holds(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool serious(const Observation& observation) {
  return observation.severity >= Severity::warning;
}

void count_group(GroupTally& group, const Outcome& outcome) {
  if (outcome.error) ++group.unreadable;
  if (!outcome.subject->decided) return;
  if (outcome.subject->truth.healthy) {
    ++group.healthy;
    group.false_alarms += call_of(outcome) == Call::false_alarm;
    return;
  }
  ++group.failed;
  group.hits += call_of(outcome) == Call::hit;
  group.warned += warned(outcome);
  if (!outcome.subject->truth.causes.empty()) {
    ++group.causes_known;
    const std::optional<std::size_t> rank = cause_rank(outcome);
    group.cause_first += rank && *rank == 0;
    group.cause_in_three += rank && *rank < 3;
  }
  if (const std::optional<bool> well = well_dated(outcome)) {
    ++group.dated;
    group.dated_well += *well;
  }
}

void count_findings(std::map<std::string, FindingTally>& findings, const Outcome& outcome) {
  if (!outcome.subject->decided) return;
  const simulate::Truth& truth = outcome.subject->truth;
  if (!truth.healthy) {
    FindingTally& main = findings[truth.finding];
    ++main.expected;
    main.found += call_of(outcome) == Call::hit;
    main.found_exactly += std::any_of(outcome.findings.begin(), outcome.findings.end(),
                                      [&](const Observation& seen) { return seen.finding == truth.finding; });
  }
  for (const Observation& seen : outcome.findings) {
    if (!serious(seen)) continue;
    FindingTally& counts = findings[seen.finding];
    ++counts.reported;
    counts.reported_true += is_true(truth, seen.finding);
  }
}

void count_reliability(std::vector<ReliabilityBin>& bins, const Outcome& outcome) {
  if (!outcome.subject->decided) return;
  for (const Observation& seen : outcome.findings) {
    if (!serious(seen)) continue;
    count_into(bins, seen.confidence, is_true(outcome.subject->truth, seen.finding));
  }
}

}  // namespace

bool is_true(const simulate::Truth& truth, const std::string& id) {
  return holds(truth.accept, id) || holds(truth.tolerate, id);
}

std::vector<ReliabilityBin> empty_bins() {
  std::vector<ReliabilityBin> bins;
  for (const auto& [from, to] :
       {std::pair{0.0, 0.5}, {0.5, 0.6}, {0.6, 0.7}, {0.7, 0.8}, {0.8, 0.9}, {0.9, 0.95}, {0.95, 1.0}}) {
    bins.push_back({from, to, 0, 0, 0});
  }
  return bins;
}

void count_into(std::vector<ReliabilityBin>& bins, double confidence, bool right) {
  const auto bin = std::find_if(bins.begin(), bins.end() - 1,
                                [&](const ReliabilityBin& candidate) { return confidence < candidate.to; });
  ++bin->count;
  bin->right += right;
  bin->confidence_sum += confidence;
}

std::string_view to_string(Call call) {
  switch (call) {
    case Call::hit:
      return "hit";
    case Call::miss:
      return "miss";
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
  const bool hit = std::any_of(outcome.findings.begin(), outcome.findings.end(),
                               [&](const Observation& seen) { return holds(subject.truth.accept, seen.finding); });
  return hit ? Call::hit : Call::miss;
}

std::vector<const Observation*> untrue(const Outcome& outcome) {
  std::vector<const Observation*> found;
  for (const Observation& seen : outcome.findings) {
    if (serious(seen) && !is_true(outcome.subject->truth, seen.finding)) found.push_back(&seen);
  }
  return found;
}

bool warned(const Outcome& outcome) {
  return std::any_of(outcome.findings.begin(), outcome.findings.end(), [&](const Observation& seen) {
    return serious(seen) && holds(outcome.subject->truth.accept, seen.finding);
  });
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
  for (const Observation& seen : outcome.findings) {
    if (seen.finding != truth.finding) continue;
    return seen.first_step >= truth.begins->first && seen.first_step <= truth.begins->second;
  }
  return std::nullopt;
}

Tally tally(const std::vector<const Outcome*>& outcomes) {
  Tally tally;
  tally.reliability = empty_bins();
  for (const Outcome* outcome : outcomes) {
    const Subject& subject = *outcome->subject;
    count_group(subject.certain ? tally.all : tally.doubtful, *outcome);
    if (!subject.certain) continue;
    count_group(tally.by_label[subject.label], *outcome);
    count_group(tally.by_family[subject.family], *outcome);
    count_findings(tally.by_finding, *outcome);
    count_reliability(tally.reliability, *outcome);
    if (!subject.truth.causes.empty()) {
      const std::string said = outcome->causes.empty() ? "(none)" : outcome->causes.front().cause;
      ++tally.causes_said[subject.truth.causes.front()][said];
    }
  }
  return tally;
}

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace osler::score
