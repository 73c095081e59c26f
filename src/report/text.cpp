// A report as text for a terminal: which sections, in which order, in how much detail.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "osler/report/render.h"
#include "report/layout.h"
#include "report/numbers.h"
#include "report/text_sections.h"

namespace osler {
namespace {

using layout::Badge;
using layout::Detail;
using layout::Sheet;

/// The lines of a screen. A narrow sheet breaks the same words into more lines, and may take some more of them.
int screen_lines(const TextOptions& options) {
  constexpr int kLowest = 24;
  constexpr int kEasyWidth = 88;
  return std::max(options.lines, kLowest) + std::max(0, kEasyWidth - std::max(options.width, layout::kNarrowest)) / 3;
}

constexpr Detail kEverything{};

constexpr Detail kRoomiest{.findings = 3,
                           .evidence_of_first = 3,
                           .evidence_of_rest = 2,
                           .plot_rows = 8,
                           .causes = 3,
                           .reasons = 3,
                           .settle_each = true,
                           .remedies = 4,
                           .ruled_out = 3,
                           .prose_lines = 3,
                           .groups = 4,
                           .code = true,
                           .everything = false};

/// What is given up, step by step, until a report fits a screen.
constexpr std::array<void (*)(Detail&), 10> kSavings = {
    [](Detail& detail) {
      detail.evidence_of_first = 2;
      detail.evidence_of_rest = 1;
      detail.plot_rows = 7;
      detail.reasons = 2;
      detail.remedies = 3;
      detail.ruled_out = 2;
      detail.prose_lines = 2;
      detail.groups = 3;
    },
    [](Detail& detail) {
      detail.plot_rows = 6;
      detail.ruled_out = 1;
      detail.groups = 2;
    },
    [](Detail& detail) { detail.settle_each = false; },
    [](Detail& detail) {
      detail.evidence_of_first = 1;
      detail.plot_rows = 5;
      detail.reasons = 1;
      detail.remedies = 2;
    },
    [](Detail& detail) {
      detail.prose_lines = 1;
      detail.groups = 1;
    },
    [](Detail& detail) { detail.findings = 2; },
    [](Detail& detail) { detail.plot_rows = 4; },
    [](Detail& detail) {
      detail.plot_rows = 3;
      detail.causes = 2;
      detail.code = false;
    },
    [](Detail& detail) {
      detail.findings = 1;
      detail.remedies = 1;
    },
    [](Detail& detail) { detail.causes = 1; },
};

Sheet write(const Report& report, const TextOptions& options, const Detail& detail) {
  Sheet sheet(options);
  layout::write_verdict(sheet, report);
  layout::write_findings(sheet, report, detail);
  // A run that is well or cannot be judged has no illness to explain; a standstill may be either.
  const bool sick = report.status == Status::critical || report.status == Status::warning;
  const bool asks = std::any_of(report.findings.begin(), report.findings.end(),
                                [](const Observation& seen) { return seen.qualifiers.count("why") > 0; });
  if (sick || asks || detail.everything) {
    layout::write_causes(sheet, report, detail);
    layout::write_remedies(sheet, report, detail);
  }
  layout::write_experiments(sheet, report, detail);
  layout::write_record(sheet, report, detail);
  return sheet;
}

}  // namespace

std::string render_text(const Report& report, const TextOptions& options) {
  if (options.verbose) return write(report, options, kEverything).str();
  Detail detail = kRoomiest;
  Sheet sheet = write(report, options, detail);
  for (const auto& save : kSavings) {
    if (sheet.lines() <= screen_lines(options)) break;
    save(detail);
    sheet = write(report, options, detail);
  }
  return sheet.str();
}

std::string render_live(const Report& report, const TextOptions& options, int lines) {
  // The plot shrinks before the words do.
  constexpr int kTallestPlot = 8;
  constexpr int kLowestPlot = 3;
  const bool sick = report.status == Status::critical || report.status == Status::warning;
  std::string text;
  for (int rows = kTallestPlot; rows >= kLowestPlot; --rows) {
    Sheet sheet(options);
    const Detail detail{2, 1, 1, rows, 1, 1, false, 1, 1, 1, 1, false, false};
    layout::write_verdict(sheet, report);
    layout::write_findings(sheet, report, detail);
    if (sick) {
      layout::write_causes(sheet, report, detail);
      layout::write_remedies(sheet, report, detail);
    }
    text = sheet.str();
    if (sheet.lines() <= lines) return text;
  }
  std::size_t end = 0;
  for (int line = 0; line < lines && end != std::string::npos; ++line) end = text.find('\n', end + (line > 0 ? 1 : 0));
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

std::string render_line(const Report& report, const TextOptions& options, int name_width) {
  const Sheet sheet(options);
  const Badge badge = layout::badge_of(report.status, options.unicode);
  constexpr int kBadgeWidth = 12;
  const std::string word =
      report.status == Status::insufficient_data ? "unclear" : std::string(to_string(report.status));
  const std::string verdict = layout::pad(std::string(badge.sign) + " " + word, kBadgeWidth);
  const int most = std::clamp(sheet.width() * 3 / 10, 12, 36);
  name_width = name_width > 0 ? std::min(name_width, most) : most;
  const std::string name = layout::pad(
      layout::clip_middle(layout::clean(report.run_name, options.unicode), name_width, options.unicode), name_width);
  const int rest = sheet.width() - kBadgeWidth - name_width - 2;
  const std::string headline = layout::clip(layout::clean(report.headline, options.unicode), rest, options.unicode);
  return sheet.painted(verdict, badge.ink) + name + "  " + headline;
}

namespace layout {

std::size_t shown(int limit, std::size_t size) {
  return limit <= 0 ? size : std::min(size, static_cast<std::size_t>(limit));
}

std::string join(const std::vector<std::string>& pieces, std::string_view between) {
  return fmt::format("{}", fmt::join(pieces, between));
}

Badge badge_of(Status status, bool unicode) {
  const Glyphs& signs = glyphs(unicode);
  switch (status) {
    case Status::critical:
      return {signs.critical, "CRITICAL", Ink::critical};
    case Status::warning:
      return {signs.warning, "WARNING", Ink::warning};
    case Status::healthy:
      return {signs.healthy, "HEALTHY", Ink::healthy};
    case Status::insufficient_data:
      break;
  }
  return {signs.unclear, "INSUFFICIENT DATA", Ink::note};
}

Badge badge_of(Severity severity, bool unicode) {
  const Glyphs& signs = glyphs(unicode);
  switch (severity) {
    case Severity::critical:
      return {signs.critical, "CRITICAL", Ink::critical};
    case Severity::warning:
      return {signs.warning, "WARNING", Ink::warning};
    case Severity::note:
      break;
  }
  return {signs.note, "NOTE", Ink::note};
}

void write_verdict(Sheet& sheet, const Report& report) {
  const Badge badge = badge_of(report.status, sheet.unicode());
  const std::string verdict = sheet.painted(fmt::format("{} {}", badge.sign, badge.word), badge.ink) + "  ";
  const std::string headline = sheet.text(report.headline, Ink::strong);
  if (columns(verdict) + 24 <= sheet.width()) {
    sheet.paragraph(verdict, headline);
  } else {
    sheet.line(verdict);
    sheet.paragraph("  ", headline);
  }
  const std::string dot = fmt::format(" {} ", sheet.glyphs().dot);
  std::vector<std::string> facts = {
      clip_middle(clean(report.run_name, sheet.unicode()), sheet.width() - 2, sheet.unicode())};
  if (!report.format.empty()) facts.push_back(clean(report.format, sheet.unicode()));
  if (report.sources.size() > 1) facts.push_back(counted(report.sources.size(), "file"));
  if (report.steps.count > 0) {
    facts.push_back(fmt::format("steps {} to {}", grouped(report.steps.first), grouped(report.steps.last)));
    facts.push_back(counted(report.steps.count, "point"));
  }
  sheet.paragraph("  ", sheet.painted(join(facts, dot), Ink::faint));
}

}  // namespace layout
}  // namespace osler
