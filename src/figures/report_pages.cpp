// The diagnosis as pages: verdict, the curves that show it, findings, causes, remedies, and what was not checked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figures/drawing.h"
#include "osler/base/version.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/figures/figure.h"
#include "osler/report/render.h"
#include "report/numbers.h"
#include "report/words.h"

namespace osler {
namespace {

using figure::Align;
using figure::Canvas;
using figure::Colour;
using figure::Palette;
using figure::Pen;
using figure::Type;

// A4 in points.
constexpr double kWidth = 595;
constexpr double kHeight = 842;
constexpr double kMargin = 42;
constexpr double kBottom = kHeight - 46;
constexpr int kMostPages = 2;
constexpr double kSize = 9;
constexpr double kLeading = 13;
constexpr std::size_t kFindings = 5;
constexpr std::size_t kEvidence = 3;
constexpr std::size_t kCauses = 3;
constexpr std::size_t kReasons = 3;
constexpr std::size_t kRemedies = 6;
constexpr std::size_t kGroups = 3;
constexpr double kFigurePad = 18;  // a figure brings its own margin, which here lies in that of the page
constexpr double kPngScale = 2;

std::string title_of_finding(const std::string& id) {
  const Finding* known = find_finding(id);
  return known != nullptr ? std::string(known->title) : id;
}

std::string title_of_cause(const std::string& id) {
  const Cause* known = find_cause(id);
  return known != nullptr ? std::string(known->title) : id;
}

/// "a; b; c" of the heaviest reasons.
std::string joined(std::vector<Reason> reasons) {
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.weight > b.weight; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kReasons, reasons.size()); ++i) {
    std::string clause = reasons[i].text.empty() ? reasons[i].finding : reasons[i].text;
    if (clause.ends_with('.')) clause.pop_back();
    text += (i > 0 ? "; " : "") + clause;
  }
  return text;
}

std::string change_of(const Remedy& remedy) {
  if (!remedy.change) return "";
  const Remedy::Change& change = *remedy.change;
  return change.from.empty() ? fmt::format("{} → {}", change.name, change.to)
                             : fmt::format("{} {} → {}", change.name, change.from, change.to);
}

class Writer {
 public:
  Writer(Canvas& canvas, const Palette& colours, const Run& run, const Report& report, bool paged)
      : canvas_(canvas), colours_(colours), run_(run), report_(report), paged_(paged) {}

  void write() {
    begin_page();
    write_verdict();
    write_main_figure();
    write_findings();
    if (sick()) {
      write_causes();
      write_remedies();
    }
    write_unchecked();
    if (sick()) write_overview();
  }

 private:
  [[nodiscard]] bool sick() const {
    return !report_.findings.empty() && (report_.status == Status::critical || report_.status == Status::warning);
  }
  [[nodiscard]] Type type(double size, bool bold = false) const { return {size, colours_.ink, bold}; }
  [[nodiscard]] Type faint(double size = kSize) const { return {size, colours_.faint, false}; }

  [[nodiscard]] Colour colour_of(Severity severity) const {
    return severity == Severity::critical  ? colours_.critical
           : severity == Severity::warning ? colours_.warning
                                           : colours_.note;
  }

  void begin_page() {
    ++page_;
    canvas_.fill({0, 0, kWidth, kHeight}, colours_.page);
    const Type small = faint(7.5);
    const std::string page = fmt::format("page {}", page_);
    const double room = kWidth - 2 * kMargin - canvas_.width_of(page, small) - 20;
    const std::string foot = fmt::format("Osler {} · {}", version(), report_.run_name);
    canvas_.line({kMargin, kBottom + 14}, {kWidth - kMargin, kBottom + 14}, {colours_.grid, 1, Pen::Dash::none});
    canvas_.text(canvas_.fitted(foot, room, small), {kMargin, kBottom + 26}, small);
    canvas_.text(page, {kWidth - kMargin, kBottom + 26}, small, Align::right);
    y_ = kMargin;
  }

  /// Whether `height` more fits, on this page or a new one. Once it does not, nothing more is written.
  bool room_for(double height) {
    if (full_) return false;
    if (y_ + height <= kBottom) return true;
    if (!paged_ || page_ >= kMostPages) {
      full_ = true;
      return false;
    }
    canvas_.next_page();
    begin_page();
    return true;
  }

  /// Text from `left` to the right margin, `lead` before its first line.
  void paragraph(double left, std::string_view words, const Type& style, int most = 0, std::string_view lead = {}) {
    const std::vector<std::string> lines = canvas_.wrapped(words, kWidth - kMargin - left, style, most);
    if (!room_for(kLeading * static_cast<double>(lines.size()))) return;  // a paragraph stays on one page
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i == 0 && !lead.empty()) canvas_.text(lead, {left - 6, y_ + kSize}, faint(), Align::right);
      canvas_.text(lines[i], {left, y_ + kSize}, style);
      y_ += std::max(kLeading, style.size + 4);
    }
  }

  void heading(std::string_view words, double with) {
    if (!room_for(28 + with)) return;
    y_ += 10;
    canvas_.text(words, {kMargin, y_ + 11}, type(11.5, true));
    y_ += 20;
  }

  /// A word on a coloured ground; returns its width.
  double pill(double x, double base, std::string_view word, Colour colour, double size) {
    const Type style{size, colours_.page, true};
    const double width = canvas_.width_of(word, style) + 10;
    canvas_.fill({x, base - size - 1.5, width, size + 5.5}, colour, 3);
    canvas_.text(word, {x + 5, base}, style);
    return width;
  }

  void write_verdict() {
    std::string word(to_string(report_.status));
    std::transform(word.begin(), word.end(), word.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    const Colour colour = report_.status == Status::critical  ? colours_.critical
                          : report_.status == Status::warning ? colours_.warning
                          : report_.status == Status::healthy ? colours_.healthy
                                                              : colours_.note;
    const double width = pill(kMargin, y_ + 9, word, colour, 9);
    const double left = kMargin + width + 10;
    canvas_.text(canvas_.fitted(report_.run_name, kWidth - kMargin - left, type(10)), {left, y_ + 9}, type(10));
    y_ += 24;
    for (const std::string& line : canvas_.wrapped(report_.headline, kWidth - 2 * kMargin, type(15, true), 4)) {
      canvas_.text(line, {kMargin, y_ + 13}, type(15, true));
      y_ += 20;
    }
    y_ += 2;
    paragraph(kMargin,
              fmt::format("{} · steps {} to {} · {}", report_.format, layout::grouped(report_.steps.first),
                          layout::grouped(report_.steps.last), layout::counted(report_.steps.count, "point")),
              faint(), 1);
  }

  void draw(Figure drawing, double most) {
    drawing.title.clear();
    drawing.subtitle.clear();
    const double width = kWidth - 2 * kMargin + 2 * kFigurePad;
    const double natural = figure::natural_height(canvas_, drawing, width);
    const double height = std::min(natural * 0.8, most);
    // Its margin at top and bottom is more than words around it need.
    if (!room_for(height - kFigurePad)) return;
    figure::draw_figure(canvas_, colours_, drawing, {kMargin - kFigurePad, y_ + 8 - kFigurePad, width, height});
    y_ += height - 30;
  }

  /// What shows the illness; all of it where there is none.
  void write_main_figure() {
    constexpr std::size_t kPanels = 2;
    if (sick()) {
      if (auto drawing = finding_figure(run_, report_, report_.findings.front().finding)) {
        if (drawing->panels.size() > kPanels) drawing->panels.resize(kPanels);
        draw(std::move(*drawing), 270);
      }
    } else if (auto drawing = overview_figure(run_, report_)) {
      draw(std::move(*drawing), 470);
    }
  }

  void write_findings() {
    if (report_.findings.empty()) return;
    heading("What was found", 40);
    for (std::size_t i = 0; i < std::min(kFindings, report_.findings.size()); ++i) write_finding(report_.findings[i]);
    if (report_.findings.size() > kFindings) {
      paragraph(kMargin, layout::counted(report_.findings.size() - kFindings, "more finding") + " of less weight",
                faint());
    }
  }

  void write_finding(const Observation& finding) {
    if (!room_for(4 * kLeading)) return;
    const double width = pill(kMargin, y_ + kSize, to_string(finding.severity), colour_of(finding.severity), 7.5);
    paragraph(kMargin + std::max(width, 54.0) + 8, title_of_finding(finding.finding), type(kSize + 0.5, true), 2);
    const double left = kMargin + 62;
    paragraph(left,
              fmt::format("{} · since step {} · {} ({})", finding.finding, layout::grouped(finding.first_step),
                          layout::in_words(finding.confidence), layout::percent(finding.confidence)),
              faint(8), 1);
    if (finding.summary != report_.headline) paragraph(left, finding.summary, type(kSize), 3);
    for (std::size_t i = 0; i < std::min(kEvidence, finding.evidence.size()); ++i) {
      paragraph(left + 10, finding.evidence[i].text, type(kSize), 2, "•");
    }
    y_ += 5;
  }

  void write_causes() {
    if (report_.causes.empty()) return;
    heading("Why", 50);
    for (std::size_t i = 0; i < std::min(kCauses, report_.causes.size()); ++i) write_cause(report_.causes[i], i == 0);
    for (std::size_t i = 0; i < std::min<std::size_t>(3, report_.ruled_out.size()); ++i) {
      const RuledOut& cause = report_.ruled_out[i];
      paragraph(kMargin + 62, fmt::format("{}: {}", title_of_cause(cause.cause), cause.why), faint(), 2,
                i == 0 ? "ruled out" : "");
    }
  }

  void write_cause(const WeighedCause& cause, bool first) {
    if (!room_for(3 * kLeading)) return;
    const double share = std::isfinite(cause.probability) ? std::clamp(cause.probability, 0.0, 1.0) : 0;
    canvas_.fill({kMargin, y_ + 2, 54, 7}, colours_.grid, 2);
    if (share > 0) canvas_.fill({kMargin, y_ + 2, std::max(3.0, 54 * share), 7}, colours_.curve(0), 2);
    const double left = kMargin + 62;
    paragraph(left, fmt::format("{}  {}", layout::percent(share), title_of_cause(cause.cause)),
              type(kSize + 0.5, first), 2);
    if (!cause.speaks_for.empty()) paragraph(left + 44, joined(cause.speaks_for), type(kSize), 3, "for");
    if (!cause.speaks_against.empty()) paragraph(left + 44, joined(cause.speaks_against), type(kSize), 3, "against");
    if (first && !cause.settle.text.empty()) paragraph(left + 44, cause.settle.text, type(kSize), 3, "settle");
    y_ += 4;
  }

  void write_remedies() {
    const auto treatable = std::find_if(report_.causes.begin(), report_.causes.end(),
                                        [](const WeighedCause& cause) { return !cause.remedies.empty(); });
    if (treatable == report_.causes.end()) return;
    heading("What to do", 30);
    for (std::size_t i = 0; i < std::min(kRemedies, treatable->remedies.size()); ++i) {
      const Remedy& remedy = treatable->remedies[i];
      const bool named = remedy.change && remedy.text.find(remedy.change->to) != std::string::npos;
      const std::string change = named ? "" : change_of(remedy);
      paragraph(kMargin + 16, remedy.text + (remedy.text.empty() || change.empty() ? "" : "  ") + change, type(kSize),
                4, fmt::format("{}.", i + 1));
      y_ += 2;
    }
  }

  void write_unchecked() {
    if (report_.checks_not_run.empty()) return;
    std::map<std::string, std::size_t> reasons;
    for (const NotRun& check : report_.checks_not_run) ++reasons[check.reason];
    std::vector<std::pair<std::size_t, std::string>> sorted;
    for (const auto& [reason, count] : reasons) sorted.emplace_back(count, reason);
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text = fmt::format("{} of {} checks could not run: ", report_.checks_not_run.size(),
                                   report_.checks_not_run.size() + report_.checks_ran.size());
    for (std::size_t i = 0; i < std::min(kGroups, sorted.size()); ++i) {
      text += fmt::format("{}{} ({})", i > 0 ? "; " : "", sorted[i].second, sorted[i].first);
    }
    if (sorted.size() > kGroups) text += "; and other reasons";
    y_ += 8;
    paragraph(kMargin, text + ".", faint(8), 3);
  }

  /// Everything the run has, where a page has room left.
  void write_overview() {
    constexpr double kLeast = 240;
    if (full_ || !paged_) return;
    auto drawing = overview_figure(run_, report_);
    if (!drawing) return;
    const bool new_page = kBottom - y_ < kLeast;
    if (new_page && page_ >= kMostPages) return;
    heading("The whole run", kLeast);
    draw(std::move(*drawing), kBottom - y_ + 8);
  }

  Canvas& canvas_;
  const Palette& colours_;
  const Run& run_;
  const Report& report_;
  bool paged_;
  bool full_ = false;
  int page_ = 0;
  double y_ = 0;
};

}  // namespace

Result<std::string> render_report(const Run& run, const Report& report, FigureType type, FigureTheme theme) {
  auto canvas = Canvas::open(type, kWidth, kHeight, kPngScale);
  if (!canvas) return canvas.error();
  canvas->describe(report.run_name, report.headline);
  Writer(*canvas, figure::palette(theme), run, report, type == FigureType::pdf).write();
  return std::move(*canvas).finish();
}

}  // namespace osler
