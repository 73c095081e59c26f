// A comparison as text for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "osler/report/comparison.h"
#include "report/layout.h"
#include "report/numbers.h"
#include "report/plot.h"
#include "report/text_sections.h"

namespace osler {
namespace {

using layout::Ink;
using layout::Sheet;

constexpr std::size_t kSeriesShown = 8;
constexpr std::size_t kConfigShown = 12;

std::string place(Axis axis, double at) {
  return fmt::format("{} {}", to_string(axis),
                     axis == Axis::epoch || std::abs(at) > 1e15 ? layout::short_number(at)
                                                                : layout::grouped(static_cast<std::int64_t>(at)));
}

/// Learning rates and norms have no best.
std::string best(const SeriesComparison& series, const Side& side) {
  const bool judged =
      series.role != Role::learning_rate && series.role != Role::gradient_norm && series.role != Role::loss_scale;
  return judged ? layout::short_number(side.best) : "-";
}

const Sketch* sketch_of(const Report& report, const std::string& series) {
  const auto found = std::find_if(report.sketches.begin(), report.sketches.end(),
                                  [&](const Sketch& sketch) { return sketch.series == series; });
  return found == report.sketches.end() ? nullptr : &*found;
}

/// Both runs' loss in one plot. Only on the step axis: elsewhere their steps do not mean the same.
void write_plot(Sheet& sheet, const Comparison& comparison) {
  if (comparison.axis != Axis::step) return;
  const auto loss =
      std::find_if(comparison.series.begin(), comparison.series.end(), [](const SeriesComparison& series) {
        return series.role == Role::train_loss || series.role == Role::validation_loss || series.role == Role::reward;
      });
  if (loss == comparison.series.end()) return;
  const Sketch* a = sketch_of(comparison.a, loss->a.series);
  const Sketch* b = sketch_of(comparison.b, loss->b.series);
  if (a == nullptr || b == nullptr) return;
  Sketch first = *a;
  Sketch second = *b;
  first.series = "first";
  second.series = "second";
  layout::Plot plot;
  plot.curves = {&first, &second};
  if (loss->parting) {
    plot.mark = {static_cast<std::int64_t>(loss->parting->at), place(comparison.axis, loss->parting->at), Ink::warning};
  }
  sheet.blank();
  sheet.line("  " + sheet.text(loss->a.series, Ink::faint));
  for (const std::string& line : layout::draw(plot, sheet, 2)) sheet.line("  " + line);
}

void write_series(Sheet& sheet, const Comparison& comparison, bool verbose) {
  std::vector<std::vector<std::string>> rows;
  for (const SeriesComparison& series : comparison.series) {
    if (!verbose && rows.size() >= kSeriesShown) break;
    const std::string name = layout::clean(series.a.series, sheet.unicode());
    rows.push_back({name, layout::short_number(series.a.end), layout::short_number(series.b.end),
                    best(series, series.a), best(series, series.b),
                    series.a.floor ? layout::short_number(*series.a.floor) : "-",
                    series.b.floor ? layout::short_number(*series.b.floor) : "-",
                    series.parting ? place(comparison.axis, series.parting->at) : "no"});
  }
  sheet.blank();
  layout::table(sheet, "  ", rows, {"series", "end 1st", "2nd", "best 1st", "2nd", "floor 1st", "2nd", "parts"});
}

void write_config(Sheet& sheet, const Comparison& comparison, bool verbose) {
  if (comparison.config.empty()) return;
  std::vector<std::vector<std::string>> rows;
  for (const ConfigDifference& difference : comparison.config) {
    if (!verbose && rows.size() >= kConfigShown) break;
    const auto shown = [&](const std::string& value) {
      return value.empty() ? std::string("-")
                           : layout::clip(layout::clean(value, sheet.unicode()), 40, sheet.unicode());
    };
    rows.push_back({layout::clean(difference.key, sheet.unicode()), shown(difference.a), shown(difference.b)});
  }
  sheet.blank();
  layout::table(sheet, "  ", rows, {"setting", "first", "second"});
  if (rows.size() < comparison.config.size()) {
    sheet.line(fmt::format("  {} more: --verbose", comparison.config.size() - rows.size()));
  }
}

void write_verdict_line(Sheet& sheet, const char* which, const Report& report, const std::vector<std::string>& only) {
  const layout::Badge badge = layout::badge_of(report.status, sheet.unicode());
  sheet.paragraph(fmt::format("  {} {}  ", layout::pad(which, 7),
                              sheet.painted(std::string(badge.sign) + " " + badge.word, badge.ink)),
                  sheet.text(report.headline));
  if (!only.empty()) {
    sheet.paragraph(
        "          ",
        sheet.painted("only here: " + layout::clean(layout::join(only, ", "), sheet.unicode()), Ink::faint));
  }
}

}  // namespace

std::string render_text(const Comparison& comparison, const TextOptions& options) {
  Sheet sheet(options);
  sheet.paragraph("", sheet.text(comparison.headline, Ink::strong));
  sheet.paragraph("  ",
                  sheet.painted(fmt::format("first {} {} second {} {} compared by {} from {} to {}",
                                            layout::clean(comparison.a.run_name, options.unicode), sheet.glyphs().dot,
                                            layout::clean(comparison.b.run_name, options.unicode), sheet.glyphs().dot,
                                            to_string(comparison.axis), layout::short_number(comparison.from),
                                            layout::short_number(comparison.to)),
                                Ink::faint));
  for (const std::string& fact : comparison.facts) {
    sheet.paragraph(fmt::format("  {} ", sheet.glyphs().bullet), sheet.text(fact));
  }
  write_plot(sheet, comparison);
  write_series(sheet, comparison, options.verbose);
  write_config(sheet, comparison, options.verbose);
  sheet.blank();
  write_verdict_line(sheet, "first", comparison.a, comparison.only_a);
  write_verdict_line(sheet, "second", comparison.b, comparison.only_b);
  if (options.verbose) {
    return sheet.str() + "\n" + render_text(comparison.a, options) + "\n" + render_text(comparison.b, options);
  }
  return sheet.str();
}

}  // namespace osler
