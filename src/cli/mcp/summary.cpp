// Short forms: the first few of everything, and the number of the rest.
#include "cli/mcp/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "osler/diagnosis/catalogue.h"
#include "report/numbers.h"

namespace osler::cli::mcp {
namespace {

// More of each would be read by nobody; `detail` gives everything.
constexpr std::size_t kFindings = 5;
constexpr std::size_t kEvidence = 2;
constexpr std::size_t kCauses = 3;
constexpr std::size_t kReasons = 2;
constexpr std::size_t kSettings = 8;

/// A line on what was left out, where something was.
std::string rest_of(std::size_t all, std::size_t shown, const char* noun) {
  return all > shown ? fmt::format("- {} more: detail \"full\"\n", layout::counted(all - shown, noun)) : std::string{};
}

template <typename Things, typename Text>
std::string joined(const Things& things, std::size_t most, const Text& text_of) {
  std::string all;
  for (std::size_t i = 0; i < std::min(most, things.size()); ++i) all += (i > 0 ? "; " : "") + text_of(things[i]);
  return all;
}

std::string finding_line(const Observation& finding) {
  const auto text_of = [](const Evidence& evidence) { return evidence.text; };
  std::string line =
      fmt::format("- {} {} since step {} ({}): {}", to_string(finding.severity), finding.finding,
                  layout::grouped(finding.first_step), layout::percent(finding.confidence), finding.summary);
  if (!finding.evidence.empty()) line += fmt::format(" Evidence: {}.", joined(finding.evidence, kEvidence, text_of));
  if (!finding.layers.empty()) {
    line +=
        fmt::format(" Layers: {}{}.", joined(finding.layers, kEvidence, [](const std::string& name) { return name; }),
                    finding.layers.size() > kEvidence ? ", ..." : "");
  }
  return line + "\n";
}

std::string cause_line(const WeighedCause& weighed) {
  const Cause* const cause = find_cause(weighed.cause);
  const auto text_of = [](const Reason& reason) { return reason.text; };
  std::string line = fmt::format("- {} {}{}", layout::percent(weighed.probability), weighed.cause,
                                 cause == nullptr ? "" : fmt::format(": {}", cause->title));
  if (!weighed.speaks_for.empty()) line += fmt::format(". For: {}", joined(weighed.speaks_for, kReasons, text_of));
  if (!weighed.speaks_against.empty()) {
    line += fmt::format(". Against: {}", joined(weighed.speaks_against, kReasons, text_of));
  }
  return line + "\n";
}

std::string remedy_lines(const WeighedCause& cause) {
  std::string text;
  int number = 0;
  for (const Remedy& remedy : cause.remedies) {
    text += fmt::format("{}. {}{}\n", ++number, remedy.text,
                        remedy.code ? fmt::format(" ({}: `{}`)", remedy.code->language, remedy.code->text) : "");
  }
  return text;
}

int badness(Status status) {
  switch (status) {
    case Status::critical:
      return 3;
    case Status::warning:
      return 2;
    case Status::insufficient_data:
      return 1;
    case Status::healthy:
      break;
  }
  return 0;
}

std::string verdict_line(const Report& report) {
  return fmt::format("{}: {}: {}\n", report.run_name, to_string(report.status), report.headline);
}

}  // namespace

std::string summary(const Report& report) {
  std::string text = verdict_line(report);
  text += fmt::format("{}, steps {} to {}, {}\n", report.format.empty() ? "run file" : report.format,
                      layout::grouped(report.steps.first), layout::grouped(report.steps.last),
                      layout::counted(report.steps.count, "point"));
  if (!report.findings.empty()) text += "\nFindings\n";
  for (std::size_t i = 0; i < std::min(kFindings, report.findings.size()); ++i) {
    text += finding_line(report.findings[i]);
  }
  text += rest_of(report.findings.size(), kFindings, "finding");
  if (!report.causes.empty()) text += "\nCauses\n";
  for (std::size_t i = 0; i < std::min(kCauses, report.causes.size()); ++i) text += cause_line(report.causes[i]);
  text += rest_of(report.causes.size(), kCauses, "cause");
  if (!report.causes.empty()) {
    const WeighedCause& first = report.causes.front();
    if (!first.remedies.empty()) text += "\nWhat to do\n" + remedy_lines(first);
    if (!first.settle.text.empty()) {
      text += fmt::format("\nTo be sure: {}{}\n", first.settle.text,
                          first.settle.probe.empty() ? "" : fmt::format(" (probe: {})", first.settle.probe));
    }
  }
  if (!report.checks_not_run.empty()) {
    text += fmt::format("\nNot checked: {} of {} findings; detail \"full\" says why.\n", report.checks_not_run.size(),
                        report.checks_not_run.size() + report.checks_ran.size());
  }
  return text;
}

std::string summary(std::vector<Report> reports, std::size_t most) {
  std::stable_sort(reports.begin(), reports.end(),
                   [](const Report& a, const Report& b) { return badness(a.status) > badness(b.status); });
  const auto sick =
      std::count_if(reports.begin(), reports.end(), [](const Report& report) { return badness(report.status) > 1; });
  std::string text = fmt::format("{} of {} sick, the worst first\n", sick, layout::counted(reports.size(), "run"));
  for (std::size_t i = 0; i < std::min(most, reports.size()); ++i) {
    text += "- " + verdict_line(reports[i]);
  }
  if (reports.size() > most) text += fmt::format("- {} more: detail \"full\"\n", reports.size() - most);
  return text + "Diagnose one of them by its path for the evidence, the causes and what to do.\n";
}

std::string summary(const Comparison& comparison) {
  std::string text = comparison.headline + "\n";
  if (!comparison.verdict.empty() && comparison.verdict != comparison.headline) text += comparison.verdict + "\n";
  for (const std::string& fact : comparison.facts) text += "- " + fact + "\n";
  if (!comparison.config.empty()) text += "\nSettings that differ (first -> second)\n";
  for (std::size_t i = 0; i < std::min(kSettings, comparison.config.size()); ++i) {
    const ConfigDifference& entry = comparison.config[i];
    text += fmt::format("- {}: {} -> {}\n", entry.key, entry.a.empty() ? "not set" : entry.a,
                        entry.b.empty() ? "not set" : entry.b);
  }
  text += rest_of(comparison.config.size(), kSettings, "setting");
  if (!comparison.only_a.empty()) text += fmt::format("\nOnly in the first: {}\n", fmt::join(comparison.only_a, ", "));
  if (!comparison.only_b.empty()) text += fmt::format("\nOnly in the second: {}\n", fmt::join(comparison.only_b, ", "));
  return text + "\nFirst:  " + verdict_line(comparison.a) + "Second: " + verdict_line(comparison.b);
}

std::string summary(const Experiment& experiment) {
  std::string text = fmt::format("{} at step {}: {}: {}\n", experiment.probe, layout::grouped(experiment.step),
                                 to_string(experiment.outcome), experiment.verdict);
  for (const Experiment::Value& value : experiment.values) {
    text += fmt::format("- {} = {}", value.name, layout::short_number(value.value));
    if (value.low && value.high) {
      text += fmt::format(" ({} to {})", layout::short_number(*value.low), layout::short_number(*value.high));
    }
    text += "\n";
  }
  for (const Experiment::Check& check : experiment.checks) {
    if (check.outcome == Experiment::Outcome::failed) text += fmt::format("- failed: {}: {}\n", check.id, check.text);
  }
  return text;
}

}  // namespace osler::cli::mcp
