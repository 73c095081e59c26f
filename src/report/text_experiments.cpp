// What active tests found, as text: a line each in a report, everything when asked for one.
#include <fmt/format.h>

#include <algorithm>

#include "osler/report/render.h"
#include "report/numbers.h"
#include "report/text_sections.h"

namespace osler {
namespace layout {
namespace {

using Outcome = Experiment::Outcome;

constexpr int kProbeCells = 22;

struct Sign {
  std::string_view glyph;
  Ink ink;
};

Sign sign_of(const Sheet& sheet, Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return {sheet.glyphs().healthy, Ink::healthy};
    case Outcome::failed:
      return {sheet.glyphs().critical, Ink::critical};
    case Outcome::undecided:
    case Outcome::stopped:
      break;
  }
  return {sheet.glyphs().unclear, Ink::faint};
}

std::string lead_of(const Sheet& sheet, Outcome outcome, std::string_view name) {
  const Sign sign = sign_of(sheet, outcome);
  return "  " + sheet.painted(sign.glyph, sign.ink) + " " + pad(sheet.text(name), kProbeCells) + " ";
}

void write_values(Sheet& sheet, const Experiment& experiment) {
  for (const Experiment::Value& value : experiment.values) {
    const std::string interval = value.low && value.high
                                     ? fmt::format("  ({} to {})", short_number(*value.low), short_number(*value.high))
                                     : std::string();
    sheet.paragraph("    " + pad(sheet.text(value.name), kProbeCells) + " ", short_number(value.value) + interval);
  }
}

/// The checks that did not pass first: they are what a person looks for.
std::vector<Experiment::Check> failures_first(std::vector<Experiment::Check> checks) {
  std::stable_partition(checks.begin(), checks.end(),
                        [](const Experiment::Check& check) { return check.outcome == Outcome::failed; });
  return checks;
}

}  // namespace

void write_experiments(Sheet& sheet, const Report& report, const Detail& detail) {
  if (report.experiments.empty()) return;
  sheet.blank();
  sheet.line(sheet.painted("Tested", Ink::strong));
  for (const Experiment& experiment : report.experiments) {
    sheet.paragraph(lead_of(sheet, experiment.outcome, experiment.probe), sheet.text(experiment.verdict),
                    detail.prose_lines);
    if (!detail.everything) continue;
    write_values(sheet, experiment);
    for (const auto& check : failures_first(experiment.checks)) {
      sheet.paragraph("  " + lead_of(sheet, check.outcome, check.id), sheet.text(check.text));
    }
  }
}

}  // namespace layout

std::string render_text(const Experiment& experiment, const TextOptions& options) {
  layout::Sheet sheet(options);
  sheet.paragraph(layout::lead_of(sheet, experiment.outcome, experiment.probe),
                  sheet.text(experiment.verdict, layout::Ink::strong));
  layout::write_values(sheet, experiment);
  for (const Experiment::Check& check : experiment.checks) {
    sheet.paragraph(layout::lead_of(sheet, check.outcome, check.id), sheet.text(check.text));
  }
  return sheet.str();
}

}  // namespace osler
