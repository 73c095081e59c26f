// The score as text: figures first, then what came out wrong and why.
#include "score/print.h"

#include <fmt/format.h>

#include <algorithm>

namespace osler::score {
namespace {

std::string percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * share(part, whole));
}

std::string joined(const std::vector<std::string>& ids) {
  return fmt::format("{}", fmt::join(ids, "|"));
}

std::string seen_line(const Observation& seen) {
  return fmt::format("      {} {} ({:.2f}) from step {}: {}\n", to_string(seen.severity), seen.finding, seen.confidence,
                     seen.first_step, seen.summary);
}

std::string causes_line(const Outcome& outcome) {
  if (outcome.causes.empty()) return "";
  std::string text = "      causes:";
  for (std::size_t i = 0; i < std::min<std::size_t>(outcome.causes.size(), 4); ++i) {
    text += fmt::format(" {} {:.2f}", outcome.causes[i].cause, outcome.causes[i].probability);
  }
  return text + "\n";
}

std::string run_lines(const Outcome& outcome) {
  const Subject& subject = *outcome.subject;
  std::string text = fmt::format("    [{}] {} ({}{}) of {}", to_string(call_of(outcome)), subject.name, subject.label,
                                 subject.certain ? "" : ", doubtful", subject.family);
  if (!subject.truth.accept.empty()) text += " expected " + joined(subject.truth.accept);
  if (!subject.truth.causes.empty()) text += " cause " + joined(subject.truth.causes);
  text += fmt::format(": {}{}\n", to_string(outcome.status), outcome.findings.empty() ? ", nothing found" : "");
  if (outcome.error) text += "      error: " + describe(*outcome.error) + "\n";
  for (const Observation& seen : outcome.findings) text += seen_line(seen);
  return text + (subject.truth.healthy ? "" : causes_line(outcome));
}

bool wrong(const Outcome& outcome) {
  const Call call = call_of(outcome);
  return call == Call::miss || call == Call::false_alarm || outcome.error.has_value();
}

std::string group_line(const std::string& name, const GroupTally& group) {
  return fmt::format("    {:<44} {:>4}/{:<4} {:>8}  {:>4}/{:<4} {:>8}  {:>8} {:>8}\n", name, group.hits, group.failed,
                     percent(group.hits, group.failed), group.false_alarms, group.healthy,
                     percent(group.false_alarms, group.healthy), percent(group.cause_first, group.causes_known),
                     percent(group.cause_in_three, group.causes_known));
}

std::string group_table(const char* title, const std::map<std::string, GroupTally>& groups) {
  std::string text = fmt::format("  by {}:\n    {:<44} {:>9} {:>8}  {:>9} {:>8}  {:>8} {:>8}\n", title, "", "hits",
                                 "recall", "alarms", "rate", "cause 1", "cause 3");
  for (const auto& [name, group] : groups) text += group_line(name, group);
  return text;
}

std::string finding_table(const Tally& counts) {
  std::string text = fmt::format("  by finding:\n    {:<34} {:>9} {:>8} {:>8}  {:>9} {:>9}\n", "", "found", "recall",
                                 "exactly", "true", "precision");
  for (const auto& [id, finding] : counts.by_finding) {
    text += fmt::format("    {:<34} {:>4}/{:<4} {:>8} {:>8}  {:>4}/{:<4} {:>9}\n", id, finding.found, finding.expected,
                        percent(finding.found, finding.expected), percent(finding.found_exactly, finding.expected),
                        finding.reported_true, finding.reported, percent(finding.reported_true, finding.reported));
  }
  return text;
}

std::string cause_confusions(const Tally& counts) {
  if (counts.causes_said.empty()) return "";
  std::string text = "  true cause -> first cause reported:\n";
  for (const auto& [truth, said] : counts.causes_said) {
    text += fmt::format("    {:<28}", truth);
    for (const auto& [cause, count] : said) text += fmt::format(" {} {}", cause, count);
    text += "\n";
  }
  return text;
}

std::string headline(Source source, std::size_t runs, const Tally& counts) {
  const GroupTally& all = counts.all;
  std::string text = fmt::format("{}: {} runs\n", to_string(source), runs);
  text += fmt::format("  failed  {:>4}: {} found, {} (as a warning or worse: {}, {})\n", all.failed, all.hits,
                      percent(all.hits, all.failed), all.warned, percent(all.warned, all.failed));
  text += fmt::format("  healthy {:>4}: {} with a false alarm, {}\n", all.healthy, all.false_alarms,
                      percent(all.false_alarms, all.healthy));
  if (all.causes_known > 0) {
    text += fmt::format("  causes  {:>4}: first {}, among three {}\n", all.causes_known,
                        percent(all.cause_first, all.causes_known), percent(all.cause_in_three, all.causes_known));
  }
  if (all.dated > 0) {
    text +=
        fmt::format("  dated   {:>4}: {} begin where they truly did\n", all.dated, percent(all.dated_well, all.dated));
  }
  const GroupTally& doubtful = counts.doubtful;
  if (doubtful.failed + doubtful.healthy > 0) {
    text += fmt::format("  doubtful labels, not counted above: {} of {} failed found, {} of {} healthy alarmed\n",
                        doubtful.hits, doubtful.failed, doubtful.false_alarms, doubtful.healthy);
  }
  if (all.unreadable + doubtful.unreadable > 0) {
    text += fmt::format("  not readable: {}\n", all.unreadable + doubtful.unreadable);
  }
  return text;
}

nlohmann::json run_json(const Outcome& outcome) {
  const Subject& subject = *outcome.subject;
  nlohmann::json run = {{"name", subject.name},
                        {"family", subject.family},
                        {"label", subject.label},
                        {"certain", subject.certain},
                        {"decided", subject.decided},
                        {"healthy", subject.truth.healthy},
                        {"accept", subject.truth.accept},
                        {"tolerate", subject.truth.tolerate},
                        {"causes", subject.truth.causes},
                        {"call", to_string(call_of(outcome))},
                        {"status", to_string(outcome.status)},
                        {"seconds", outcome.seconds}};
  if (outcome.error) run["error"] = describe(*outcome.error);
  run["findings"] = nlohmann::json::array();
  for (const Observation& seen : outcome.findings) {
    run["findings"].push_back({{"id", seen.finding},
                               {"severity", to_string(seen.severity)},
                               {"confidence", seen.confidence},
                               {"first_step", seen.first_step},
                               {"summary", seen.summary}});
  }
  run["reported_causes"] = nlohmann::json::array();
  for (const WeighedCause& cause : outcome.causes) {
    run["reported_causes"].push_back({{"id", cause.cause}, {"probability", cause.probability}});
  }
  return run;
}

nlohmann::json group_json(const GroupTally& group) {
  return {{"failed", group.failed},
          {"recall", share(group.hits, group.failed)},
          {"recall_as_warning", share(group.warned, group.failed)},
          {"healthy", group.healthy},
          {"false_alarm_rate", group.healthy == 0 ? 0.0 : share(group.false_alarms, group.healthy)},
          {"cause_first", share(group.cause_first, group.causes_known)},
          {"cause_in_three", share(group.cause_in_three, group.causes_known)}};
}

}  // namespace

std::string reliability_text(const std::vector<ReliabilityBin>& bins) {
  std::string text = "  reliability (warnings and worse):\n    confidence      said    right    count\n";
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    text += fmt::format("    {:.2f} to {:.2f}    {:>5.2f}    {:>5.2f}    {:>5}\n", bin.from, bin.to,
                        bin.confidence_sum / static_cast<double>(bin.count), share(bin.right, bin.count), bin.count);
  }
  return text;
}

std::string causes_text(const std::string& what, const CauseScore& score) {
  return fmt::format("  causes, {}: first {}, among three {} of {}\n", what, percent(score.first, score.runs),
                     percent(score.in_three, score.runs), score.runs);
}

std::string as_text(Source source, const std::vector<const Outcome*>& outcomes, const PrintOptions& options) {
  const Tally counts = tally(outcomes);
  std::string text = headline(source, outcomes.size(), counts);
  text += group_table("label", counts.by_label);
  if (options.by_family) text += group_table("family", counts.by_family);
  text += finding_table(counts) + reliability_text(counts.reliability) + cause_confusions(counts);
  text += options.verbose ? "  every run:\n" : "  what came out wrong:\n";
  for (const Outcome* outcome : outcomes) {
    if (options.verbose || wrong(*outcome)) text += run_lines(*outcome);
  }
  return text;
}

nlohmann::json as_json(const std::vector<const Outcome*>& outcomes) {
  const Tally counts = tally(outcomes);
  nlohmann::json score = group_json(counts.all);
  for (const auto& [id, finding] : counts.by_finding) {
    score["findings"][id] = {{"expected", finding.expected},
                             {"recall", share(finding.found, finding.expected)},
                             {"recall_exactly", share(finding.found_exactly, finding.expected)},
                             {"reported", finding.reported},
                             {"precision", share(finding.reported_true, finding.reported)}};
  }
  for (const auto& [name, group] : counts.by_family) score["families"][name] = group_json(group);
  score["reliability"] = nlohmann::json::array();
  for (const ReliabilityBin& bin : counts.reliability) {
    score["reliability"].push_back(
        {{"from", bin.from}, {"to", bin.to}, {"count", bin.count}, {"right", share(bin.right, bin.count)}});
  }
  score["runs"] = nlohmann::json::array();
  for (const Outcome* outcome : outcomes) score["runs"].push_back(run_json(*outcome));
  return score;
}

}  // namespace osler::score
