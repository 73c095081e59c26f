// Catalogue pages for a terminal: a finding, a cause, a setting, each with what it is related to.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "osler/report/render.h"
#include "report/document.h"
#include "report/layout.h"
#include "report/markdown.h"
#include "report/numbers.h"
#include "report/text_sections.h"
#include "report/words.h"

namespace osler {
namespace {

using layout::Ink;
using layout::Sheet;

void write_section(Sheet& sheet, std::string_view heading) {
  sheet.blank();
  sheet.line(sheet.painted(heading, Ink::strong));
}

std::string needs_text(const Finding& finding) {
  std::vector<std::string> needs;
  for (const Need need : finding.needs)
    needs.push_back(fmt::format("{} ({})", to_string(need), layout::in_words(need)));
  return layout::join(needs, " or ");
}

/// One line of the relation between a finding and a cause.
struct Relation {
  double weight;
  std::string_view id;
  std::string_view why;
};

void write_relations(Sheet& sheet, std::string_view heading, std::vector<Relation> relations) {
  if (relations.empty()) return;
  std::stable_sort(relations.begin(), relations.end(),
                   [](const Relation& a, const Relation& b) { return std::fabs(a.weight) > std::fabs(b.weight); });
  write_section(sheet, heading);
  std::vector<std::vector<std::string>> rows;
  for (const Relation& relation : relations) {
    rows.push_back({sheet.text(relation.id), std::string(layout::strength(relation.weight)), sheet.text(relation.why)});
  }
  layout::table(sheet, "  ", rows);
}

void write_settings(Sheet& sheet, const Finding& finding) {
  if (finding.settings.empty()) return;
  write_section(sheet, "Settings");
  std::vector<std::vector<std::string>> rows;
  for (const Setting& setting : finding.settings) {
    rows.push_back({sheet.text(setting.name), fmt::format("{}", setting.value), sheet.text(setting.reason)});
  }
  layout::table(sheet, "  ", rows);
  const Setting& first = finding.settings.front();
  sheet.paragraph(
      "  ", sheet.painted(fmt::format("change one: --set {}.{}={}", finding.id, first.name, first.value), Ink::faint));
}

double probability_of(double log_odds) {
  return 1 / (1 + std::exp(-log_odds));
}

}  // namespace

std::string render_page(const Finding& finding, const TextOptions& options) {
  Sheet sheet(options);
  layout::write_heading(sheet, {finding.title, "finding", finding.id});
  sheet.paragraph(sheet.painted("needs: ", Ink::faint), needs_text(finding));
  sheet.blank();
  layout::write_markdown(sheet, finding.doc);
  std::vector<Relation> speaks_for;
  std::vector<Relation> speaks_against;
  for (const auto& [stem, cause] : causes()) {
    for (const Pull& pull : cause.pulls) {
      if (pull.finding != finding.id || pull.if_found == 0) continue;
      (pull.if_found > 0 ? speaks_for : speaks_against).push_back({pull.if_found, cause.id, pull.why});
    }
  }
  write_relations(sheet, "Speaks for these causes", std::move(speaks_for));
  write_relations(sheet, "Speaks against these causes", std::move(speaks_against));
  write_settings(sheet, finding);
  return sheet.str();
}

std::string render_page(const Cause& cause, const TextOptions& options) {
  Sheet sheet(options);
  layout::write_heading(sheet, {cause.title, "cause", cause.id});
  sheet.paragraph("", sheet.painted(fmt::format("before anything is seen: {} (log-odds {:.1f})",
                                                layout::percent(probability_of(cause.prior)), cause.prior),
                                    Ink::faint));
  sheet.blank();
  layout::write_markdown(sheet, cause.doc);
  std::vector<Relation> found_for;
  std::vector<Relation> found_against;
  std::vector<Relation> absent_against;
  for (const Pull& pull : cause.pulls) {
    if (pull.if_found > 0) found_for.push_back({pull.if_found, pull.finding, pull.why});
    if (pull.if_found < 0) found_against.push_back({pull.if_found, pull.finding, pull.why});
    if (pull.if_absent < 0) absent_against.push_back({pull.if_absent, pull.finding, "when looked for and not found"});
  }
  write_relations(sheet, "Findings that speak for it", std::move(found_for));
  write_relations(sheet, "Findings that speak against it", std::move(found_against));
  write_relations(sheet, "Absences that speak against it", std::move(absent_against));
  if (!cause.settle.empty() || !cause.settle_probe.empty()) {
    write_section(sheet, "What would settle it");
    const std::string probe = cause.settle_probe.empty() ? "" : fmt::format(" (probe: {})", cause.settle_probe);
    sheet.paragraph("  ", layout::inline_markdown(sheet, layout::clean(cause.settle, options.unicode)) + probe);
  }
  return sheet.str();
}

std::string render_page(const Finding& finding, const Setting& setting, const TextOptions& options) {
  Sheet sheet(options);
  const std::string title = fmt::format("{}.{} = {}", finding.id, setting.name, setting.value);
  layout::write_heading(sheet, {title, "setting", fmt::format("of: {}", finding.title)});
  sheet.blank();
  layout::write_markdown(sheet, setting.reason);
  sheet.blank();
  sheet.paragraph(
      "", sheet.painted(fmt::format("change it: osler diagnose PATH --set {}.{}=VALUE", finding.id, setting.name),
                        Ink::faint));
  return sheet.str();
}

}  // namespace osler
