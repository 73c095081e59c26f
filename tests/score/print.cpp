// The score as text: figures first, then what came out wrong and why.
#include "score/print.h"

#include <fmt/format.h>

#include <algorithm>

namespace osler::score {
namespace {

std::string counted(std::size_t part, std::size_t whole) {
  return whole == 0 ? "-" : fmt::format("{}/{} {:.2f}", part, whole, share(part, whole));
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
  std::string text =
      fmt::format("    [{}] {} ({}{}{}) of {}", to_string(call_of(outcome)), subject.name, subject.label,
                  subject.certain ? "" : ", doubtful", subject.shows ? "" : ", does not show", subject.family);
  if (!subject.truth.accept.empty()) text += fmt::format(" expected {}", fmt::join(subject.truth.accept, "|"));
  if (!subject.truth.causes.empty()) text += fmt::format(" cause {}", fmt::join(subject.truth.causes, "|"));
  text += fmt::format(": {}{}\n", to_string(outcome.status), outcome.findings.empty() ? ", nothing found" : "");
  if (outcome.error) text += "      error: " + describe(*outcome.error) + "\n";
  for (const Observation& seen : outcome.findings) text += seen_line(seen);
  return text + (subject.truth.healthy ? "" : causes_line(outcome));
}

bool wrong(const Outcome& outcome) {
  const Call call = call_of(outcome);
  return call == Call::missed || call == Call::false_alarm || outcome.error.has_value();
}

std::string group_table(const char* title, const std::map<std::string, GroupTally>& groups) {
  if (groups.empty()) return "";
  std::string text = fmt::format("  by {}:\n    {:<44} {:>14} {:>14} {:>14} {:>14} {:>14} {:>14}\n", title, "", "found",
                                 "where it shows", "false alarms", "with a note", "cause first", "among three");
  for (const auto& [name, group] : groups) {
    text +=
        fmt::format("    {:<44} {:>14} {:>14} {:>14} {:>14} {:>14} {:>14}\n", name, counted(group.found, group.sick),
                    counted(group.showing_found, group.showing), counted(group.false_alarms, group.healthy),
                    counted(group.with_note, group.healthy), counted(group.cause_first, group.causes_known),
                    counted(group.cause_in_three, group.causes_known));
  }
  return text;
}

std::string finding_table(const Tally& counts) {
  std::string text =
      fmt::format("  by finding:\n    {:<34} {:>14} {:>14} {:>16}\n", "", "found", "by this very one", "warnings true");
  for (const auto& [id, finding] : counts.by_finding) {
    text +=
        fmt::format("    {:<34} {:>14} {:>14} {:>16}\n", id, counted(finding.found, finding.expected),
                    counted(finding.found_exactly, finding.expected), counted(finding.reported_true, finding.reported));
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

std::string figure_lines(const Tally& counts) {
  std::string text;
  for (const Figure& figure : figures(counts.all)) {
    text += fmt::format("  {:<42} {}\n", figure.words, share_text(figure.part, figure.whole));
  }
  text += fmt::format("  {:<42} {:.3f} of findings, {:.3f} of causes\n", "expected calibration error",
                      calibration_error(counts.findings_reliability), calibration_error(counts.causes_reliability));
  const GroupTally& doubtful = counts.doubtful;
  if (doubtful.sick + doubtful.healthy > 0) {
    text += fmt::format("  doubtful labels, not counted above: {} of {} sick found, {} of {} healthy alarmed\n",
                        doubtful.found, doubtful.sick, doubtful.false_alarms, doubtful.healthy);
  }
  return text;
}

nlohmann::json run_json(const Outcome& outcome) {
  const Subject& subject = *outcome.subject;
  nlohmann::json run = {{"name", subject.name},
                        {"part", subject.part},
                        {"family", subject.family},
                        {"domain", subject.domain},
                        {"label", subject.label},
                        {"certain", subject.certain},
                        {"decided", subject.decided},
                        {"shows", subject.shows},
                        {"healthy", subject.truth.healthy},
                        {"accept", subject.truth.accept},
                        {"tolerate", subject.truth.tolerate},
                        {"planted", subject.planted},
                        {"causes", subject.truth.causes},
                        {"call", to_string(call_of(outcome))},
                        {"status", to_string(outcome.status)},
                        {"seconds", outcome.seconds}};
  if (outcome.error) run["error"] = describe(*outcome.error);
  if (const std::optional<bool> well = well_dated(outcome)) run["well_dated"] = *well;
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

nlohmann::json share_json(std::size_t part, std::size_t whole) {
  const auto [low, high] = wilson(part, whole);
  return {{"count", part}, {"of", whole}, {"share", share(part, whole)}, {"low", low}, {"high", high}};
}

nlohmann::json group_json(const GroupTally& group) {
  nlohmann::json json;
  for (const Figure& figure : figures(group)) json[figure.id] = share_json(figure.part, figure.whole);
  return json;
}

nlohmann::json reliability_json(const std::vector<ReliabilityBin>& bins) {
  nlohmann::json json = {{"error", calibration_error(bins)}, {"rows", nlohmann::json::array()}};
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    json["rows"].push_back({{"from", bin.from},
                            {"to", bin.to},
                            {"count", bin.count},
                            {"said", bin.confidence_sum / static_cast<double>(bin.count)},
                            {"right", share(bin.right, bin.count)}});
  }
  return json;
}

nlohmann::json tally_json(const Tally& counts) {
  nlohmann::json score = group_json(counts.all);
  score["calibration"] = {{"findings", reliability_json(counts.findings_reliability)},
                          {"causes", reliability_json(counts.causes_reliability)}};
  for (const auto& [id, finding] : counts.by_finding) {
    score["findings"][id] = {{"found", share_json(finding.found, finding.expected)},
                             {"found_exactly", share_json(finding.found_exactly, finding.expected)},
                             {"warnings_true", share_json(finding.reported_true, finding.reported)}};
  }
  for (const auto& [name, group] : counts.by_cause) score["causes"][name] = group_json(group);
  for (const auto& [name, group] : counts.by_family) score["families"][name] = group_json(group);
  for (const auto& [name, group] : counts.by_domain) score["domains"][name] = group_json(group);
  return score;
}

}  // namespace

std::map<std::string, std::vector<const Outcome*>> parts_of(const std::vector<const Outcome*>& outcomes) {
  std::map<std::string, std::vector<const Outcome*>> parts;
  for (const Outcome* outcome : outcomes) parts[outcome->subject->part].push_back(outcome);
  if (parts.size() < 2) parts.clear();
  return parts;
}

std::string share_text(std::size_t part, std::size_t whole) {
  if (whole == 0) return "-";
  const auto [low, high] = wilson(part, whole);
  return fmt::format("{:.2f} ({} of {}; {:.2f} to {:.2f})", share(part, whole), part, whole, low, high);
}

std::string reliability_text(const std::string& what, const std::vector<ReliabilityBin>& bins) {
  std::string text =
      fmt::format("  reliability of {}: expected calibration error {:.3f}\n", what, calibration_error(bins)) +
      "    said            mean    right    count\n";
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    text += fmt::format("    {:.2f} to {:.2f}    {:>5.2f}    {:>5.2f}    {:>5}\n", bin.from, bin.to,
                        bin.confidence_sum / static_cast<double>(bin.count), share(bin.right, bin.count), bin.count);
  }
  return text;
}

std::string as_text(Source source, const std::vector<const Outcome*>& outcomes, const PrintOptions& options) {
  const Tally counts = tally(outcomes);
  std::string text = fmt::format("{}: {} runs\n", to_string(source), outcomes.size()) + figure_lines(counts);
  for (const auto& [part, of_part] : parts_of(outcomes)) {
    text += fmt::format("{}, {}: {} runs\n", to_string(source), part, of_part.size()) + figure_lines(tally(of_part));
  }
  text += group_table("label", counts.by_label) + group_table("domain", counts.by_domain);
  text += group_table("cause", counts.by_cause);
  if (options.by_family) text += group_table("family", counts.by_family);
  text += finding_table(counts) + reliability_text("findings", counts.findings_reliability) +
          reliability_text("causes", counts.causes_reliability) + cause_confusions(counts);
  text += options.verbose ? "  every run:\n" : "  what came out wrong:\n";
  for (const Outcome* outcome : outcomes) {
    if (options.verbose || wrong(*outcome)) text += run_lines(*outcome);
  }
  return text;
}

nlohmann::json as_json(const std::vector<const Outcome*>& outcomes) {
  nlohmann::json score = tally_json(tally(outcomes));
  for (const auto& [part, of_part] : parts_of(outcomes)) score["parts"][part] = tally_json(tally(of_part));
  score["runs"] = nlohmann::json::array();
  for (const Outcome* outcome : outcomes) score["runs"].push_back(run_json(*outcome));
  return score;
}

}  // namespace osler::score
