// A figure on a page: title, pointers, panels one above the other over the same steps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figures/drawing.h"
#include "report/numbers.h"

namespace osler::figure {
namespace {

constexpr double kPad = 18;
constexpr double kPanelHeight = 190;
constexpr double kPanelGap = 20;
constexpr double kAxisHeight = 2;  // below the last panel, in addition to its gap
constexpr double kPointerRow = 19;
constexpr std::size_t kPointerRows = 6;
constexpr double kSwatch = 18;
constexpr double kWidestLabel = 150;
constexpr double kLongestName = 220;

/// Whether a panel has an axis of its own instead of the figure's steps.
bool stands_alone(const Panel& panel) {
  return !std::holds_alternative<Lines>(panel.content) && !std::holds_alternative<HeatMap>(panel.content);
}

constexpr double kOwnAxisHeight = 18;

bool is_finding(const Pointer& pointer) {
  return pointer.tone != Pointer::Tone::plain;
}

/// Findings have a row each above the panels; restarts and the like share one.
std::size_t pointer_rows(const Figure& figure) {
  const auto findings = static_cast<std::size_t>(
      std::count_if(figure.pointers.begin(), figure.pointers.end(), [](const Pointer& p) { return is_finding(p); }));
  const bool plain = findings < figure.pointers.size();
  return std::min(findings, kPointerRows) + (plain ? 1 : 0);
}

double head_height(Canvas& canvas, const Figure& figure, double width) {
  double height = 0;
  if (!figure.title.empty()) height += kTitleSize + 9;
  if (!figure.subtitle.empty()) {
    height += 15.0 * static_cast<double>(canvas.wrapped(figure.subtitle, width, {kTextSize, {}, false}, 3).size()) + 10;
  }
  return height;
}

void draw_head(Canvas& canvas, const Palette& colours, const Figure& figure, const Box& box) {
  double y = box.y;
  if (!figure.title.empty()) {
    const Type type{kTitleSize, colours.ink, true};
    canvas.text(canvas.fitted(figure.title, box.width, type), {box.x, y + kTitleSize}, type);
    y += kTitleSize + 9;
  }
  const Type type{kTextSize, colours.faint, false};
  for (const std::string& line : canvas.wrapped(figure.subtitle, box.width, type, 3)) {
    canvas.text(line, {box.x, y + kTextSize}, type);
    y += 15;
  }
}

class PointerPainter {
 public:
  explicit PointerPainter(const Plot& strip) : strip_(strip) {}

  /// The rows above the panels: a bar from first to last step with its label over it.
  void draw_rows(const std::vector<Pointer>& pointers) {
    std::size_t row = 0;
    bool plain = false;
    double free_from = strip_.area.x;
    for (const Pointer& pointer : pointers) {
      if (is_finding(pointer)) continue;
      draw_word(pointer, free_from);
      plain = true;
    }
    if (plain) row = 1;
    const std::size_t most = row + kPointerRows;
    for (const Pointer& pointer : pointers) {
      if (!is_finding(pointer) || row >= most) continue;
      draw_row(pointer, strip_.area.y + kPointerRow * static_cast<double>(row++));
    }
  }

 private:
  void draw_word(const Pointer& pointer, double& free_from) {
    const double x = strip_.x_of(static_cast<double>(pointer.first_step));
    const Type type{kSmallSize, strip_.colours.faint, false};
    const double width = strip_.canvas.width_of(pointer.label, type);
    const double left = std::clamp(x - width / 2, strip_.area.x, std::max(strip_.area.x, strip_.area.right() - width));
    if (left < free_from) return;  // the line alone shows it
    strip_.canvas.text(pointer.label, {left, strip_.area.y + kSmallSize}, type);
    free_from = left + width + 6;
  }

  void draw_row(const Pointer& pointer, double top) {
    const Colour colour = strip_.colours.tone(pointer.tone);
    const double left = strip_.x_of(static_cast<double>(pointer.first_step));
    const double right = std::max(left + 3, strip_.x_of(static_cast<double>(pointer.last_step)));
    strip_.canvas.clip({strip_.area.x - 2, top, strip_.area.width + 4, kPointerRow});
    strip_.canvas.fill({left, top + 13, right - left, 3}, colour, 1.5);
    strip_.canvas.unclip();
    const Type type{kSmallSize, colour, true};
    const std::string label = strip_.canvas.fitted(pointer.label, strip_.area.width, type);
    const double width = strip_.canvas.width_of(label, type);
    const double x = std::clamp(left, strip_.area.x, std::max(strip_.area.x, strip_.area.right() - width));
    strip_.canvas.text(label, {x, top + kSmallSize + 0.5}, type);
  }

  const Plot& strip_;
};

/// What points lie behind the curves of a panel: tinted stretches.
void draw_shades(const Plot& plot) {
  plot.canvas.clip(plot.area);
  for (const Pointer& pointer : plot.figure.pointers) {
    if (!pointer.shaded) continue;
    const double left = plot.x_of(static_cast<double>(pointer.first_step));
    const double right = plot.x_of(static_cast<double>(pointer.last_step));
    plot.canvas.fill({left, plot.area.y, std::max(1.0, right - left), plot.area.height},
                     plot.colours.tone(pointer.tone).faded(plot.colours.dark ? 0.16 : 0.09));
  }
  plot.canvas.unclip();
}

/// And what lies before them: lines at the first steps and at single places.
void draw_pointer_lines(const Plot& plot, bool topmost) {
  std::size_t findings = 0;
  for (const Pointer& pointer : plot.figure.pointers) {
    const bool finding = is_finding(pointer);
    if (finding && findings++ >= kPointerRows) continue;
    const Colour colour = plot.colours.tone(pointer.tone);
    const auto upright = [&](std::int64_t step, const Pen& pen) {
      if (step < plot.figure.first_step || step > plot.figure.last_step) return;
      const double x = plot.x_of(static_cast<double>(step));
      plot.canvas.line({x, plot.area.y}, {x, plot.area.bottom()}, pen);
    };
    if (pointer.places.empty()) {
      upright(pointer.first_step, {colour, 1.2, finding ? Pen::Dash::dashed : Pen::Dash::dotted});
    }
    for (const std::int64_t place : pointer.places) {
      upright(place, {colour.faded(0.8), 1, Pen::Dash::dashed});
      if (!topmost || place < plot.figure.first_step || place > plot.figure.last_step) continue;
      const double x = plot.x_of(static_cast<double>(place));
      const Place arrow[] = {{x - 4, plot.area.y}, {x + 4, plot.area.y}, {x, plot.area.y + 6}};
      plot.canvas.polygon(arrow, colour);
    }
  }
}

void draw_step_axis(const Plot& plot, bool labelled) {
  const Type type{kSmallSize, plot.colours.faint, false};
  const double y = plot.area.bottom();
  plot.canvas.line({plot.area.x, y}, {plot.area.right(), y}, {plot.colours.faint, 1, Pen::Dash::none});
  const double base = y + kTickLength + kSmallSize + 1;
  double free_from = -HUGE_VAL;
  double leftmost = plot.area.x;
  for (const Tick& tick : step_ticks(plot.figure.first_step, plot.figure.last_step,
                                     std::clamp(static_cast<int>(plot.area.width / 85), 2, 10))) {
    const double x = plot.area.x + plot.area.width * tick.share;
    plot.canvas.line({x, y}, {x, y + kTickLength}, {plot.colours.faint, 1, Pen::Dash::none});
    const double half = plot.canvas.width_of(tick.label, type) / 2;
    if (!labelled || x - half < free_from) continue;
    plot.canvas.text(tick.label, {x, base}, type, Align::centre);
    free_from = x + half + 8;
    leftmost = std::min(leftmost, x - half);
  }
  if (labelled) plot.canvas.text("step", {leftmost - 7, base}, type, Align::right);
}

void draw_panel(const Plot& plot, const Panel& panel, bool first, bool last) {
  if (const auto* ridge = std::get_if<Ridge>(&panel.content)) {
    draw_ridge(plot, *ridge);
    return;
  }
  if (const auto* chart = std::get_if<Chart>(&panel.content)) return draw_chart(plot, *chart, panel.levels);
  if (const auto* contour = std::get_if<Contour>(&panel.content)) return draw_contour(plot, *contour);
  if (const auto* bars = std::get_if<Bars>(&panel.content)) return draw_bars(plot, *bars);
  draw_shades(plot);
  if (const auto* lines = std::get_if<Lines>(&panel.content)) draw_lines(plot, *lines, panel.levels);
  if (const auto* map = std::get_if<HeatMap>(&panel.content)) draw_heat_map(plot, *map);
  draw_pointer_lines(plot, first);
  draw_step_axis(plot, last);
}

void draw_sign(Canvas& canvas, const Palette& colours, const LegendEntry& entry, double x, double y) {
  switch (entry.sign) {
    case LegendEntry::Sign::line:
      if (entry.pen.width > 0) canvas.line({x, y - 3.5}, {x + 13, y - 3.5}, entry.pen);
      break;
    case LegendEntry::Sign::cross:
      canvas.cross({x + 8, y - 3.5}, 2.6, entry.pen);
      break;
    case LegendEntry::Sign::square:
      canvas.fill({x + 2, y - 8, 9, 9}, entry.pen.colour);
      break;
    case LegendEntry::Sign::scale:
      for (int i = 0; i < 40; ++i) canvas.fill({x + i, y - 7, 1.2, 7}, depth_colour(i / 39.0, colours));
      break;
  }
}

}  // namespace

double draw_heading(Canvas& canvas, const Palette& colours, const Panel& panel, const Box& box, bool draw) {
  const Type heading{kTextSize, colours.ink, true};
  const Type name{kSmallSize, colours.ink, false};
  const std::string title = canvas.fitted(panel.heading, box.width, heading);
  if (draw) canvas.text(title, {box.x, box.y + kTextSize}, heading);
  double x = box.x + canvas.width_of(title, heading) + 16;
  double y = box.y + kTextSize;
  for (const LegendEntry& entry : legend_of(panel, colours)) {
    const bool scale = entry.sign == LegendEntry::Sign::scale;
    const std::string words = canvas.fitted(entry.name, kLongestName, name);
    const std::string to = canvas.fitted(entry.to, kLongestName, name);
    const double before = canvas.width_of(words, name);
    const double width = scale ? before + 52 + canvas.width_of(to, name) : kSwatch + before;
    if (x + width > box.right() && x > box.x) {
      x = box.x;
      y += kRowHeight;
    }
    if (draw && scale) {
      canvas.text(words, {x, y}, name);
      draw_sign(canvas, colours, entry, x + before + 6, y);
      canvas.text(to, {x + before + 52, y}, name);
    } else if (draw) {
      draw_sign(canvas, colours, entry, x, y);
      canvas.text(words, {x + kSwatch, y}, name);
    }
    x += width + 16;
  }
  return y - box.y + 10;
}

double left_margin(Canvas& canvas, const Panel& panel, double height) {
  const Type type{kSmallSize, {}, false};
  double widest = 28;
  const auto consider = [&](const std::string& label) { widest = std::max(widest, canvas.width_of(label, type)); };
  if (const auto* lines = std::get_if<Lines>(&panel.content)) {
    for (const Tick& tick : axis_of(*lines, panel.levels).ticks(tick_count(height))) consider(tick.label);
  } else if (const auto* map = std::get_if<HeatMap>(&panel.content)) {
    for (const std::string& row : map->rows) {
      consider(row);
      if (widest > kWidestLabel) break;
    }
  } else if (const auto* ridge = std::get_if<Ridge>(&panel.content)) {
    for (const Ridge::Row& row : ridge->rows) consider(layout::grouped(row.step));
  } else if (const auto* chart = std::get_if<Chart>(&panel.content)) {
    for (const Tick& tick : axis_of(*chart, panel.levels).ticks(tick_count(height))) consider(tick.label);
  } else if (const auto* contour = std::get_if<Contour>(&panel.content)) {
    for (const Tick& tick : axis_of(*contour).ticks(tick_count(height))) consider(tick.label);
  } else if (const auto* bars = std::get_if<Bars>(&panel.content)) {
    for (const std::string& name : bars->names) consider(name);
  }
  return std::min(widest, kWidestLabel) + 10;
}

double right_margin(const Panel& panel) {
  const bool coloured =
      std::holds_alternative<HeatMap>(panel.content) || std::holds_alternative<Contour>(panel.content);
  return coloured ? 72 : 14;
}

double natural_height(Canvas& canvas, const Figure& figure, double width) {
  const double inner = width - 2 * kPad;
  double height = 2 * kPad + head_height(canvas, figure, inner);
  const bool steps = !std::all_of(figure.panels.begin(), figure.panels.end(), stands_alone);
  if (steps) height += kPointerRow * static_cast<double>(pointer_rows(figure)) + kAxisHeight;
  for (const Panel& panel : figure.panels) {
    height += draw_heading(canvas, palette(FigureTheme::light), panel, {0, 0, inner, 0}, false);
    height += kPanelHeight * panel.height + kPanelGap + (stands_alone(panel) ? kOwnAxisHeight : 0);
  }
  return height;
}

void draw_figure(Canvas& canvas, const Palette& colours, const Figure& figure, const Box& box) {
  const Box inner{box.x + kPad, box.y + kPad, box.width - 2 * kPad, box.height - 2 * kPad};
  draw_head(canvas, colours, figure, inner);
  const double natural = natural_height(canvas, figure, box.width);
  double plots = 0;
  for (const Panel& panel : figure.panels) plots += kPanelHeight * panel.height;
  // What is more or less than the natural height goes to the plots; words keep their size.
  const double stretch = plots > 0 ? std::max(0.2, (plots + box.height - natural) / plots) : 1;
  double left = 0;
  double right = 0;
  for (const Panel& panel : figure.panels) {
    left = std::max(left, left_margin(canvas, panel, kPanelHeight * panel.height * stretch));
    right = std::max(right, right_margin(panel));
  }
  double y = inner.y + head_height(canvas, figure, inner.width);
  const double width = std::max(20.0, inner.width - left - right);
  const bool steps = !std::all_of(figure.panels.begin(), figure.panels.end(), stands_alone);
  const double strip = steps ? kPointerRow * static_cast<double>(pointer_rows(figure)) : 0;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    y += draw_heading(canvas, colours, panel, {inner.x, y, inner.width, 0}, true);
    if (i == 0 && strip > 0) {
      const Plot rows{canvas, colours, figure, {inner.x + left, y, width, strip}};
      PointerPainter(rows).draw_rows(figure.pointers);
      y += strip;
    }
    const Plot plot{canvas, colours, figure, {inner.x + left, y, width, kPanelHeight * panel.height * stretch}};
    draw_panel(plot, panel, i == 0, i + 1 == figure.panels.size());
    y += plot.area.height + kPanelGap + (stands_alone(panel) ? kOwnAxisHeight : 0);
  }
}

}  // namespace osler::figure

namespace osler {
namespace {

constexpr double kMostPixels = 100e6;

Result<void> check(const FigureStyle& style) {
  const auto wrong = [](std::string message) {
    return Error{ErrorCode::invalid_argument, std::move(message), "figure"};
  };
  if (style.width < 320 || style.width > 8000) {
    return wrong(fmt::format("a width of {} is outside of 320 to 8000", style.width));
  }
  if (style.height != 0 && (style.height < 120 || style.height > 8000)) {
    return wrong(fmt::format("a height of {} is outside of 120 to 8000", style.height));
  }
  if (!(style.scale >= 0.5 && style.scale <= 4)) {
    return wrong(fmt::format("a scale of {} is outside of 0.5 to 4", style.scale));
  }
  return {};
}

}  // namespace

std::optional<FigureType> figure_type_of(std::string_view file_name) {
  const auto ends = [file_name](std::string_view ending) {
    if (file_name.size() <= ending.size()) return false;
    const std::string_view tail = file_name.substr(file_name.size() - ending.size());
    return std::equal(tail.begin(), tail.end(), ending.begin(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
  };
  if (ends(".png")) return FigureType::png;
  if (ends(".svg")) return FigureType::svg;
  if (ends(".pdf")) return FigureType::pdf;
  return std::nullopt;
}

Result<std::string> render(const Figure& figure, FigureType type, const FigureStyle& style) {
  if (const auto fine = check(style); !fine) return fine.error();
  const auto width = static_cast<double>(style.width);
  double height = style.height;
  if (style.height == 0) {  // measured on a page of its own, since a page must know its size from the start
    auto measure = figure::Canvas::open(FigureType::svg, width, 100, 1);
    if (!measure) return measure.error();
    height = std::ceil(figure::natural_height(*measure, figure, width));
  }
  if (type == FigureType::png && width * height * style.scale * style.scale > kMostPixels) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} x {} at scale {} is more than 100 million pixels", style.width, height, style.scale),
                 "figure"};
  }
  auto canvas = figure::Canvas::open(type, width, height, style.scale);
  if (!canvas) return canvas.error();
  canvas->describe(figure.title, figure.subtitle);
  const figure::Palette& colours = figure::palette(style.theme);
  canvas->fill({0, 0, width + 1, height + 1}, colours.page);  // to the last part of a pixel
  figure::draw_figure(*canvas, colours, figure, {0, 0, width, height});
  return std::move(*canvas).finish();
}

}  // namespace osler
