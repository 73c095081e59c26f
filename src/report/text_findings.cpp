// The findings of a report as text, with their evidence and a small plot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "osler/diagnosis/catalogue.h"
#include "report/numbers.h"
#include "report/plot.h"
#include "report/text_sections.h"
#include "report/words.h"

namespace osler::layout {
namespace {

constexpr std::string_view kTrainLoss = "train-loss";
constexpr std::string_view kValidationLoss = "validation-loss";

const Sketch* sketch_of(const Report& report, std::string_view series) {
  const auto found = std::find_if(report.sketches.begin(), report.sketches.end(),
                                  [series](const Sketch& sketch) { return sketch.series == series; });
  return found == report.sketches.end() ? nullptr : &*found;
}

const Sketch* sketch_in_role(const Report& report, std::string_view role) {
  const auto found = std::find_if(report.sketches.begin(), report.sketches.end(),
                                  [role](const Sketch& sketch) { return sketch.role == role; });
  return found == report.sketches.end() ? nullptr : &*found;
}

/// The curves that show a finding: the one its evidence rests on; training and validation loss together.
std::vector<const Sketch*> curves_of(const Report& report, const Observation& finding) {
  for (const Evidence& evidence : finding.evidence) {
    const Sketch* main = sketch_of(report, evidence.series);
    if (main == nullptr) continue;
    const bool train = main->role == kTrainLoss;
    const bool validation = main->role == kValidationLoss;
    const Sketch* partner = train        ? sketch_in_role(report, kValidationLoss)
                            : validation ? sketch_in_role(report, kTrainLoss)
                                         : nullptr;
    if (partner == nullptr) return {main};
    return train ? std::vector{main, partner} : std::vector{partner, main};
  }
  return {};
}

/// The curves worth seeing when there is nothing to point at.
std::vector<const Sketch*> main_curves(const Report& report) {
  std::vector<const Sketch*> curves;
  for (const std::string_view role : {kTrainLoss, kValidationLoss}) {
    if (const Sketch* sketch = sketch_in_role(report, role)) curves.push_back(sketch);
  }
  if (curves.empty() && !report.sketches.empty()) curves.push_back(&report.sketches.front());
  return curves;
}

/// The run's last step where the last column of a curve can be thought to cover it, else 0.
std::int64_t axis_end(const Report& report, const std::vector<const Sketch*>& curves) {
  for (const Sketch* curve : curves) {
    const std::vector<Sketch::Column>& columns = curve->columns;
    if (columns.size() < 2) continue;
    // In floating point: the steps of a hostile log may lie too far apart for their difference to be an integer.
    const auto step = [](std::int64_t value) { return static_cast<double>(value); };
    const double spacing = step(columns.back().step) - step(columns[columns.size() - 2].step);
    const double behind = step(report.steps.last) - step(columns.back().step);
    if (behind > 0 && behind <= spacing) return report.steps.last;
  }
  return 0;
}

/// Where the figures of the report say that the curves end, so that one page tells one end of a loss. Where several
/// series have the role of a curve, the figure may be of another one or of their sum.
std::vector<std::optional<double>> told_ends(const Report& report, const std::vector<const Sketch*>& curves) {
  std::vector<std::optional<double>> ends;
  for (const Sketch* curve : curves) {
    const auto figure = report.metrics.find("final-" + curve->role);
    const auto named = report.roles.find(curve->role);
    const bool alone = named != report.roles.end() && named->second.size() == 1;
    ends.push_back(figure != report.metrics.end() && alone ? std::optional(figure->second) : std::nullopt);
  }
  return ends;
}

void write_plot(Sheet& sheet, const Plot& plot, int indent) {
  for (const std::string& line : draw(plot, sheet, indent)) sheet.line(line);
}

/// One line: the curve's name, its shape, its range.
void write_sparkline(Sheet& sheet, const Sketch& sketch, const std::string& indent) {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const Sketch::Column& column : sketch.columns) {
    if (std::isfinite(column.low)) low = std::min(low, column.low);
    if (std::isfinite(column.high)) high = std::max(high, column.high);
  }
  if (low > high) return;
  const std::string range = fmt::format("{} to {}", short_number(low), short_number(high));
  const std::string name = clip_middle(clean(sketch.series, sheet.unicode()), 24, sheet.unicode());
  const int room = sheet.width() - columns(indent) - columns(name) - columns(range) - 4;
  const int cells = std::min({room, 48, static_cast<int>(sketch.columns.size())});
  if (cells < 4) return;
  sheet.line(fmt::format("{}{}  {}  {}", indent, sheet.painted(name, Ink::faint),
                         sparkline(sketch, cells, sheet.unicode()), sheet.painted(range, Ink::faint)));
}

std::string since(const Observation& finding) {
  return "since step " + grouped(finding.first_step);
}

/// "since step 4,102 · almost certain (98 %) · loss-nonfinite-later · period = 500"
std::string facts_of(const Sheet& sheet, const Observation& finding) {
  std::vector<std::string> facts = {since(finding),
                                    fmt::format("{} ({})", in_words(finding.confidence), percent(finding.confidence)),
                                    clean(finding.finding, sheet.unicode())};
  for (const auto& [name, value] : finding.qualifiers) {
    facts.push_back(clean(value.empty() ? name : name + " = " + value, sheet.unicode()));
  }
  for (std::string& fact : facts) {
    if (columns(fact) <= sheet.width() / 2) fact = together(fact);
  }
  return join(facts, fmt::format(" {} ", sheet.glyphs().dot));
}

std::string layers_of(const Sheet& sheet, const Observation& finding, const Detail& detail) {
  std::vector<std::string> names;
  const std::size_t most = shown(detail.everything ? 0 : 4, finding.layers.size());
  for (std::size_t i = 0; i < most; ++i) {
    names.push_back(clip_middle(clean(finding.layers[i], sheet.unicode()), 40, sheet.unicode()));
  }
  if (most < finding.layers.size()) names.push_back(fmt::format("{} more", finding.layers.size() - most));
  return "layers: " + join(names, ", ");
}

/// The finding in one sentence. When the headline says the same, its title instead.
std::string sentence_of(const Report& report, const Observation& finding) {
  if (!finding.summary.empty() && finding.summary != report.headline) return finding.summary;
  const Finding* known = find_finding(finding.finding);
  return known != nullptr ? std::string(known->title) : finding.finding;
}

class FindingWriter {
 public:
  FindingWriter(Sheet& sheet, const Report& report, const Detail& detail, const std::vector<const Sketch*>& drawn)
      : sheet_(sheet),
        report_(report),
        detail_(detail),
        indent_(sheet.width() >= 72 ? 10 : 2, ' '),
        drawn_(drawn.begin(), drawn.end()) {}

  void write(const Observation& finding, bool first) {
    sheet_.blank();
    const Badge badge = badge_of(finding.severity, sheet_.unicode());
    const std::string sentence = sheet_.text(sentence_of(report_, finding));
    if (indent_.size() > 2) {
      sheet_.paragraph(sheet_.painted(pad(badge.word, static_cast<int>(indent_.size())), badge.ink), sentence,
                       detail_.prose_lines);
    } else {
      sheet_.paragraph("", sheet_.painted(badge.word, badge.ink) + "  " + sentence, 2 * detail_.prose_lines);
    }
    sheet_.paragraph(indent_, sheet_.painted(facts_of(sheet_, finding), Ink::faint), detail_.everything ? 0 : 2);
    if (!finding.layers.empty()) sheet_.paragraph(indent_, layers_of(sheet_, finding, detail_), detail_.prose_lines);
    write_evidence(finding, first ? detail_.evidence_of_first : detail_.evidence_of_rest);
    write_curves(finding, first);
  }

 private:
  void write_evidence(const Observation& finding, int limit) {
    const std::string lead = indent_ + std::string(sheet_.glyphs().bullet) + " ";
    for (std::size_t i = 0; i < shown(limit, finding.evidence.size()); ++i) {
      sheet_.paragraph(lead, sheet_.text(finding.evidence[i].text), detail_.prose_lines);
    }
  }

  void write_curves(const Observation& finding, bool first) {
    std::vector<const Sketch*> curves = curves_of(report_, finding);
    if (curves.empty() && first) curves = main_curves(report_);
    if (curves.empty()) return;
    if (first || detail_.everything) {
      const Badge badge = badge_of(finding.severity, sheet_.unicode());
      const Plot plot{curves, PlotMark{finding.first_step, "step " + grouped(finding.first_step), badge.ink},
                      detail_.plot_rows, axis_end(report_, curves), told_ends(report_, curves)};
      write_plot(sheet_, plot, 2);
    } else if (drawn_.count(curves.front()) == 0) {
      write_sparkline(sheet_, *curves.front(), indent_);
    }
    drawn_.insert(curves.begin(), curves.end());
  }

  Sheet& sheet_;
  const Report& report_;
  const Detail& detail_;
  std::string indent_;
  std::set<const Sketch*> drawn_;
};

}  // namespace

void write_findings(Sheet& sheet, const Report& report, const Detail& detail) {
  // Notes do not make a healthy run sick: it gets its curve as if they were not there, and they follow.
  const bool calm = report.findings.empty() || report.status == Status::healthy;
  std::vector<const Sketch*> curves;
  if (calm) {
    sheet.blank();
    curves = main_curves(report);
    write_plot(sheet, Plot{curves, std::nullopt, detail.plot_rows, axis_end(report, curves), told_ends(report, curves)},
               2);
  }
  FindingWriter writer(sheet, report, detail, curves);
  const std::size_t most = shown(detail.findings, report.findings.size());
  for (std::size_t i = 0; i < most; ++i) writer.write(report.findings[i], i == 0 && !calm);
  if (most < report.findings.size()) {
    sheet.paragraph("",
                    sheet.painted(counted(report.findings.size() - most, "more finding") + ": --verbose", Ink::faint));
  }
}

}  // namespace osler::layout
