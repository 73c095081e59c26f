// The score as a page: docs/accuracy.md.
#include <fmt/format.h>

#include <algorithm>

#include "score/print.h"

namespace osler::score {
namespace {

std::string percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * share(part, whole));
}

std::string title(Source source) {
  switch (source) {
    case Source::corpus:
      return "Real logs from public repositories";
    case Source::cases:
      return "The project's own cases (`tests/cases`)";
    case Source::suite:
      return "Simulated and trained runs (`tests/simulate`)";
  }
  return "";
}

std::string summary_table(const Tally& counts) {
  const GroupTally& all = counts.all;
  std::string text = "| what | runs | result |\n|---|---:|---:|\n";
  text += fmt::format("| failed runs with the right finding | {} | {} |\n", all.failed, percent(all.hits, all.failed));
  text += fmt::format("| of them as a warning or worse | {} | {} |\n", all.failed, percent(all.warned, all.failed));
  text += fmt::format("| healthy runs with a false alarm | {} | {} |\n", all.healthy,
                      percent(all.false_alarms, all.healthy));
  if (all.causes_known > 0) {
    text += fmt::format("| right cause named first | {} | {} |\n", all.causes_known,
                        percent(all.cause_first, all.causes_known));
    text += fmt::format("| right cause among the first three | {} | {} |\n", all.causes_known,
                        percent(all.cause_in_three, all.causes_known));
  }
  if (all.dated > 0) {
    text +=
        fmt::format("| first step where it truly began | {} | {} |\n", all.dated, percent(all.dated_well, all.dated));
  }
  return text + "\n";
}

std::string finding_table(const Tally& counts) {
  std::string text = "| finding | runs | recall | exactly | reported | precision |\n|---|---:|---:|---:|---:|---:|\n";
  for (const auto& [id, finding] : counts.by_finding) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", id, finding.expected,
                        percent(finding.found, finding.expected), percent(finding.found_exactly, finding.expected),
                        finding.reported, percent(finding.reported_true, finding.reported));
  }
  return text + "\n";
}

std::string reliability_table(const std::vector<ReliabilityBin>& bins) {
  std::string text = "| confidence | said | right | warnings |\n|---|---:|---:|---:|\n";
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    text += fmt::format("| {:.2f} to {:.2f} | {:.2f} | {:.2f} | {} |\n", bin.from, bin.to,
                        bin.confidence_sum / static_cast<double>(bin.count), share(bin.right, bin.count), bin.count);
  }
  return text + "\n";
}

std::string wrong_list(const std::vector<const Outcome*>& outcomes) {
  std::string text;
  for (const Outcome* outcome : outcomes) {
    const Call call = call_of(*outcome);
    if (!outcome->subject->certain || (call != Call::miss && call != Call::false_alarm)) continue;
    std::vector<std::string> said;
    for (const Observation& seen : outcome->findings) {
      if (seen.severity >= Severity::warning) said.push_back("`" + seen.finding + "`");
    }
    text += fmt::format("- {}: {} (label {}), said {}\n", to_string(call), outcome->subject->name,
                        outcome->subject->label, said.empty() ? "nothing" : fmt::format("{}", fmt::join(said, ", ")));
  }
  return text.empty() ? "Nothing.\n\n" : text + "\n";
}

}  // namespace

std::string as_markdown(Source source, const std::vector<const Outcome*>& outcomes) {
  const Tally counts = tally(outcomes);
  std::string text = "## " + title(source) + "\n\n" + summary_table(counts);
  text +=
      "By finding (recall counts any finding that the label accepts, \"exactly\" only this one; precision is over\n"
      "warnings and worse):\n\n" +
      finding_table(counts);
  text += "Is the confidence to be believed?\n\n" + reliability_table(counts.reliability);
  return text + "What came out wrong:\n\n" + wrong_list(outcomes);
}

}  // namespace osler::score
