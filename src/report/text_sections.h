// The sections of a text report. Each writes its part of a report on a sheet, as much as the detail allows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "osler/diagnosis/report.h"
#include "report/layout.h"

namespace osler::layout {

/// How much of a report to show. 0 means no limit, except where a member says otherwise.
struct Detail {
  int findings = 0;
  int evidence_of_first = 0;  ///< facts under the first finding
  int evidence_of_rest = 0;   ///< facts under the others
  int plot_rows = 8;
  int causes = 0;
  int reasons = 0;          ///< for, and as many against
  bool settle_each = true;  ///< what would settle each cause, not the first alone
  int remedies = 0;
  int ruled_out = 0;
  int prose_lines = 0;     ///< lines a single sentence may take
  int groups = 0;          ///< reasons for checks that did not run, marks, damages
  bool code = true;        ///< the line of code below a remedy
  bool everything = true;  ///< every plot, every remedy, every name: what --verbose shows
};

void write_verdict(Sheet& sheet, const Report& report);
/// The findings with their evidence and plots; the curve alone when there are none.
void write_findings(Sheet& sheet, const Report& report, const Detail& detail);
void write_causes(Sheet& sheet, const Report& report, const Detail& detail);
void write_remedies(Sheet& sheet, const Report& report, const Detail& detail);
/// What active tests found.
void write_experiments(Sheet& sheet, const Report& report, const Detail& detail);
/// Figures, measures, roles, checks that did not run, marks, damage.
void write_record(Sheet& sheet, const Report& report, const Detail& detail);

/// How a status or a severity is shown: a sign, a word, a colour.
struct Badge {
  std::string_view sign;
  std::string word;
  Ink ink;
};
[[nodiscard]] Badge badge_of(Status status, bool unicode);
[[nodiscard]] Badge badge_of(Severity severity, bool unicode);

/// How many of `size` things a limit lets through.
[[nodiscard]] std::size_t shown(int limit, std::size_t size);

/// Pieces joined with `between`.
[[nodiscard]] std::string join(const std::vector<std::string>& pieces, std::string_view between);

}  // namespace osler::layout
