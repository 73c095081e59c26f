// The table of many reports, and the exit code.
#include "cli/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/program.h"
#include "report/layout.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

// More full reports than this would bury the table; --verbose shows them all.
constexpr std::size_t kFullReports = 5;

int badness(const Report& report) {
  switch (report.status) {
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

}  // namespace

std::string render_many(std::vector<Report> reports, const TextOptions& options) {
  std::stable_sort(reports.begin(), reports.end(),
                   [](const Report& a, const Report& b) { return badness(a) > badness(b); });
  int name_width = 1;
  for (const Report& report : reports) {
    name_width = std::max(name_width, layout::columns(layout::clean(report.run_name, options.unicode)));
  }
  std::string text;
  for (const Report& report : reports) text += render_line(report, options, name_width) + "\n";
  const auto sick = static_cast<std::size_t>(
      std::count_if(reports.begin(), reports.end(), [](const Report& report) { return badness(report) > 1; }));
  text += fmt::format("\n{} of {} sick\n", sick, layout::counted(reports.size(), "run"));
  const std::size_t full = options.verbose ? reports.size() : sick;
  if (!options.verbose && sick > kFullReports) {
    return text + "Examine one of them alone, or use --verbose for all in full.\n";
  }
  layout::Sheet rule(options);
  std::string line;
  for (int i = 0; i < rule.width(); ++i) line += rule.glyphs().rule;
  for (std::size_t i = 0; i < full; ++i) {
    text += fmt::format("\n{}\n\n{}", rule.painted(line, layout::Ink::faint), render_text(reports[i], options));
  }
  return text;
}

int exit_code(const std::vector<Report>& reports, bool failed, Severity fail_on) {
  bool unclear = failed || reports.empty();
  for (const Report& report : reports) {
    const bool sick = std::any_of(report.findings.begin(), report.findings.end(),
                                  [fail_on](const Observation& finding) { return finding.severity >= fail_on; });
    if (sick) return kSick;
    unclear = unclear || report.status == Status::insufficient_data;
  }
  return unclear ? kCannotJudge : kFine;
}

}  // namespace osler::cli
