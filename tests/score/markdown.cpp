// The score as a page: docs/accuracy.md.
#include <fmt/format.h>

#include <algorithm>

#include "score/print.h"

namespace osler::score {
namespace {

constexpr std::size_t kLongestList = 40;  // of runs that came out wrong; the whole list is what the command prints

std::string title(Source source) {
  switch (source) {
    case Source::corpus:
      return "Real logs from public repositories";
    case Source::population:
      return "Trainings with planted faults and repaired twins (`make population`)";
    case Source::cases:
      return "The project's own cases (`tests/cases`)";
    case Source::suite:
      return "Simulated and trained runs (`tests/simulate`)";
  }
  return "";
}

std::string counted(std::size_t part, std::size_t whole) {
  return whole == 0 ? "-" : fmt::format("{} of {}", part, whole);
}

std::string summary_table(const Tally& counts) {
  std::string text = "| what | share | runs | 95 % interval |\n|---|---:|---:|---:|\n";
  for (const Figure& figure : figures(counts.all)) {
    const auto [low, high] = wilson(figure.part, figure.whole);
    text += fmt::format("| {} | {:.3f} | {} | {:.3f} to {:.3f} |\n", figure.words, share(figure.part, figure.whole),
                        counted(figure.part, figure.whole), low, high);
  }
  text += fmt::format("| expected calibration error of findings | {:.3f} | | |\n",
                      calibration_error(counts.findings_reliability));
  return text + fmt::format("| expected calibration error of causes | {:.3f} | | |\n\n",
                            calibration_error(counts.causes_reliability));
}

std::string finding_table(const Tally& counts) {
  std::string text = "| finding | found | by this very one | its warnings that are true |\n|---|---:|---:|---:|\n";
  for (const auto& [id, finding] : counts.by_finding) {
    text +=
        fmt::format("| `{}` | {} | {} | {} |\n", id, counted(finding.found, finding.expected),
                    counted(finding.found_exactly, finding.expected), counted(finding.reported_true, finding.reported));
  }
  return text + "\n";
}

std::string cause_table(const Tally& counts) {
  if (counts.by_cause.empty()) return "";
  std::string text =
      "By cause:\n\n| cause | found | where the log can show it | named first | among three |\n"
      "|---|---:|---:|---:|---:|\n";
  for (const auto& [id, group] : counts.by_cause) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", id, counted(group.found, group.sick),
                        counted(group.showing_found, group.showing), counted(group.cause_first, group.causes_known),
                        counted(group.cause_in_three, group.causes_known));
  }
  return text + "\n";
}

std::string wrong_list(const std::vector<const Outcome*>& outcomes) {
  std::string text;
  std::size_t count = 0;
  for (const Outcome* outcome : outcomes) {
    const Call call = call_of(*outcome);
    if (!outcome->subject->certain || (call != Call::missed && call != Call::false_alarm)) continue;
    if (++count > kLongestList) continue;
    std::vector<std::string> said;
    for (const Observation& seen : outcome->findings) {
      if (seen.severity >= Severity::warning) said.push_back("`" + seen.finding + "`");
    }
    text += fmt::format("- {}: {} (label {}), said {}\n", to_string(call), outcome->subject->name,
                        outcome->subject->label, said.empty() ? "nothing" : fmt::format("{}", fmt::join(said, ", ")));
  }
  if (count > kLongestList) text += fmt::format("- and {} more\n", count - kLongestList);
  return text.empty() ? "Nothing.\n\n" : text + "\n";
}

}  // namespace

std::string reliability_markdown(const std::vector<ReliabilityBin>& bins) {
  std::string text = "| said | mean | right | count |\n|---|---:|---:|---:|\n";
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    text += fmt::format("| {:.2f} to {:.2f} | {:.2f} | {:.2f} | {} |\n", bin.from, bin.to,
                        bin.confidence_sum / static_cast<double>(bin.count), share(bin.right, bin.count), bin.count);
  }
  return text + "\n";
}

std::string as_markdown(Source source, const std::vector<const Outcome*>& outcomes) {
  const Tally counts = tally(outcomes);
  std::string text = "## " + title(source) + "\n\n" + summary_table(counts);
  for (const auto& [part, of_part] : parts_of(outcomes)) {
    text += fmt::format("Of these, `{}`:\n\n", part) + summary_table(tally(of_part));
  }
  text += cause_table(counts);
  text +=
      "By finding (of the runs whose main finding it is; found by any finding that is right, or by this very "
      "one):\n\n" +
      finding_table(counts);
  text += "Is the confidence of a warning to be believed?\n\n" + reliability_markdown(counts.findings_reliability);
  if (calibration_error(counts.causes_reliability) > 0) {
    text += "And the probability of the first three causes?\n\n" + reliability_markdown(counts.causes_reliability);
  }
  return text + "What came out wrong:\n\n" + wrong_list(outcomes);
}

}  // namespace osler::score
