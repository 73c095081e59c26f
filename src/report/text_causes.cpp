// The causes of a report as text: how probable, what speaks for and against, what would settle it, what to change.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "osler/diagnosis/catalogue.h"
#include "report/numbers.h"
#include "report/text_sections.h"

namespace osler::layout {
namespace {

constexpr int kBarCells = 8;

std::string title_of(const std::string& cause) {
  const Cause* known = find_cause(cause);
  return known != nullptr ? std::string(known->title) : cause;
}

std::string bar(const Sheet& sheet, double probability) {
  const double share = std::isfinite(probability) ? std::clamp(probability, 0.0, 1.0) : 0.0;
  const int full = static_cast<int>(std::lround(share * kBarCells));
  std::string filled;
  std::string rest;
  for (int i = 0; i < kBarCells; ++i)
    (i < full ? filled : rest) += i < full ? sheet.glyphs().bar_full : sheet.glyphs().bar_rest;
  return filled + sheet.painted(rest, Ink::faint);
}

std::vector<Reason> heaviest_first(std::vector<Reason> reasons) {
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.weight > b.weight; });
  return reasons;
}

std::string clause(const Reason& reason) {
  return reason.text.empty() ? reason.finding : reason.text;
}

/// Clauses without the full stop that would stand in the middle of a list.
std::string without_stop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void write_reasons(Sheet& sheet, const std::string& indent, std::string_view label, const std::vector<Reason>& reasons,
                   char sign, const Detail& detail) {
  if (reasons.empty()) return;
  const std::string lead = indent + sheet.painted(pad(label, 9), Ink::faint);
  const std::vector<Reason> sorted = heaviest_first(reasons);
  if (detail.everything) {
    std::string first = lead;
    for (const Reason& reason : sorted) {
      const std::string basis = reason.finding.empty() ? "" : fmt::format(" [{}]", reason.finding);
      sheet.paragraph(first, fmt::format("{}{:.1f}  {}{}", sign, reason.weight, sheet.text(clause(reason)),
                                         sheet.text(basis, Ink::faint)));
      first = indent + std::string(9, ' ');
    }
    return;
  }
  std::vector<std::string> clauses;
  const std::size_t most = shown(detail.reasons, sorted.size());
  for (std::size_t i = 0; i < most; ++i) clauses.push_back(sheet.text(without_stop(clause(sorted[i]))));
  sheet.paragraph(lead, join(clauses, "; "), detail.prose_lines);
}

std::string change_text(const Sheet& sheet, const Remedy::Change& change) {
  if (change.from.empty()) return fmt::format("{} {} {}", change.name, sheet.glyphs().arrow, change.to);
  return fmt::format("{} {} {} {}", change.name, change.from, sheet.glyphs().arrow, change.to);
}

/// Whether a remedy has a number to show; a switch to a word is said by the remedy's own words.
bool has_numbers(const Remedy& remedy) {
  return remedy.change && !remedy.change->to.empty() &&
         std::isdigit(static_cast<unsigned char>(remedy.change->to.front())) != 0;
}

/// The remedy's words, with the change behind them unless the words name the new value already.
std::string remedy_text(const Sheet& sheet, const Remedy& remedy) {
  std::string text = sheet.text(remedy.text);
  if (!has_numbers(remedy)) return text;
  std::string change = sheet.text(change_text(sheet, *remedy.change), Ink::strong);
  if (remedy.text.empty()) return change;
  const bool named = !remedy.change->to.empty() && remedy.text.find(remedy.change->to) != std::string::npos;
  return named ? text : text + "  " + change;
}

std::vector<Remedy> numbers_first(std::vector<Remedy> remedies) {
  std::stable_partition(remedies.begin(), remedies.end(), has_numbers);
  return remedies;
}

/// What a person is to do must not end in an ellipsis as readily as what explains it.
int lines_for_advice(const Detail& detail) {
  return detail.everything ? 0 : detail.prose_lines + 1;
}

void write_settlement(Sheet& sheet, const std::string& indent, const Settlement& settle, const Detail& detail) {
  if (settle.text.empty() && settle.probe.empty()) return;
  const std::string probe = settle.probe.empty() ? "" : fmt::format(" (probe: {})", settle.probe);
  sheet.paragraph(indent + sheet.painted(pad("settle", 9), Ink::faint), sheet.text(settle.text + probe),
                  lines_for_advice(detail));
}

void write_cause(Sheet& sheet, const WeighedCause& cause, bool first, const Detail& detail) {
  const std::string lead =
      fmt::format("  {} {}  ", bar(sheet, cause.probability), pad_left(percent(cause.probability), 5));
  const std::string id = sheet.text(cause.cause, Ink::faint);
  const bool settled_below = first || detail.settle_each;
  // Where there is no room for what would settle it, the probe's name at least.
  const std::string probe =
      settled_below || cause.settle.probe.empty()
          ? ""
          : sheet.text(fmt::format(" {} probe: {}", sheet.glyphs().dot, cause.settle.probe), Ink::faint);
  sheet.paragraph(lead, sheet.text(title_of(cause.cause), first ? Ink::strong : Ink::plain) +
                            (find_cause(cause.cause) != nullptr ? "  " + id : std::string()) + probe);
  const std::string indent(sheet.width() >= 72 ? static_cast<std::size_t>(columns(lead)) : 4, ' ');
  write_reasons(sheet, indent, "for", cause.speaks_for, '+', detail);
  write_reasons(sheet, indent, "against", cause.speaks_against, '-', detail);
  if (settled_below) write_settlement(sheet, indent, cause.settle, detail);
  if (!first && detail.everything) {
    for (const Remedy& remedy : numbers_first(cause.remedies)) {
      sheet.paragraph(indent + sheet.painted(pad("remedy", 9), Ink::faint), remedy_text(sheet, remedy));
    }
  }
}

}  // namespace

void write_causes(Sheet& sheet, const Report& report, const Detail& detail) {
  if (report.causes.empty() && report.ruled_out.empty()) return;
  sheet.blank();
  sheet.line(sheet.painted("Why", Ink::strong));
  const std::size_t most = shown(detail.causes, report.causes.size());
  for (std::size_t i = 0; i < most; ++i) write_cause(sheet, report.causes[i], i == 0, detail);
  if (most < report.causes.size()) {
    sheet.paragraph(
        "  ", sheet.painted(counted(report.causes.size() - most, "less probable cause") + ": --verbose", Ink::faint));
  }
  const std::size_t excluded = shown(detail.ruled_out, report.ruled_out.size());
  for (std::size_t i = 0; i < excluded; ++i) {
    const RuledOut& cause = report.ruled_out[i];
    sheet.paragraph("  " + sheet.painted("ruled out", Ink::faint) + "  ",
                    sheet.text(fmt::format("{}: {}", title_of(cause.cause), cause.why)), detail.prose_lines);
  }
  if (excluded < report.ruled_out.size()) {
    std::vector<std::string> ids;
    for (std::size_t i = excluded; i < report.ruled_out.size(); ++i) ids.push_back(report.ruled_out[i].cause);
    sheet.paragraph("  " + sheet.painted("also      ", Ink::faint) + " ", sheet.text(join(ids, ", ")), 1);
  }
}

void write_remedies(Sheet& sheet, const Report& report, const Detail& detail) {
  const auto treatable = std::find_if(report.causes.begin(), report.causes.end(),
                                      [](const WeighedCause& cause) { return !cause.remedies.empty(); });
  if (treatable == report.causes.end()) return;
  sheet.blank();
  const std::string whom =
      treatable == report.causes.begin() ? "" : fmt::format("  if it is: {}", title_of(treatable->cause));
  sheet.line(sheet.painted("What to do", Ink::strong) +
             sheet.painted(clip(clean(whom, sheet.unicode()), sheet.width() - 12, sheet.unicode()), Ink::faint));
  const std::vector<Remedy> remedies = numbers_first(treatable->remedies);
  for (std::size_t i = 0; i < shown(detail.remedies, remedies.size()); ++i) {
    sheet.paragraph(fmt::format("  {}. ", i + 1), remedy_text(sheet, remedies[i]), lines_for_advice(detail));
    const auto& code = remedies[i].code;
    if (!code || !detail.code) continue;
    sheet.paragraph("     ", sheet.text(code->text) + "  " + sheet.text(code->language, Ink::faint));
  }
}

}  // namespace osler::layout
