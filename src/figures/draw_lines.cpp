// Curves: a band from lowest to highest value, the mean through it, crosses where values are not finite.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figures/drawing.h"

namespace osler::figure {
namespace {

constexpr double kLineWidth = 1.5;
constexpr double kFaintWidth = 1.0;
constexpr double kDotRadius = 2.2;
constexpr double kDotSpacing = 12;   // points further apart than this are shown as points
constexpr double kCrossSpacing = 8;  // crosses nearer than this would run into each other
constexpr double kCrossRadius = 2.6;
constexpr double kGridSpacing = 14;  // grid lines nearer than this are more hatching than help

/// The stroke of one curve.
struct Stroke {
  Colour colour;
  double width;
  Pen::Dash dash;
};

class LinePainter {
 public:
  LinePainter(const Plot& plot, const ValueAxis& axis) : plot_(plot), axis_(axis) {}

  void paint(const Line& line, const Stroke& stroke) {
    std::vector<Bucket> buckets = line.buckets;
    thin(buckets, static_cast<std::size_t>(std::max(plot_.area.width, 64.0)));
    const Box& area = plot_.area;  // a little more at the sides, so that the first and last dot are whole
    plot_.canvas.clip({area.x - 3, area.y, area.width + 6, area.height});
    for (std::size_t begin = 0; begin < buckets.size();) {
      if (buckets[begin].count == 0) {
        ++begin;
        continue;
      }
      std::size_t end = begin;
      while (end < buckets.size() && buckets[end].count > 0) ++end;
      paint_piece({buckets.data() + begin, end - begin}, stroke);
      begin = end;
    }
    plot_.canvas.unclip();
    paint_crosses(buckets, stroke);
  }

 private:
  [[nodiscard]] Place at(double step, double value) const {
    return {plot_.x_of(step), plot_.y_of(std::clamp(axis_.share(value), -0.5, 1.5))};
  }

  /// Where a bucket's mean stands: exactly where a single point is, in the middle of several.
  [[nodiscard]] Place middle(const Bucket& bucket) const {
    const double step = bucket.count == 1
                            ? static_cast<double>(bucket.max_step)
                            : static_cast<double>(bucket.first_step) / 2 + static_cast<double>(bucket.last_step) / 2;
    return at(step, bucket.mean);
  }

  void paint_piece(std::span<const Bucket> buckets, const Stroke& stroke) {
    paint_band(buckets, stroke);
    std::vector<Place> places;
    places.reserve(buckets.size());
    for (const Bucket& bucket : buckets) places.push_back(middle(bucket));
    plot_.canvas.path(places, {stroke.colour, stroke.width, stroke.dash});
    const double spacing = (places.back().x - places.front().x) / static_cast<double>(places.size());
    if (places.size() > 1 && spacing < kDotSpacing) return;
    for (const Place& place : places) plot_.canvas.disc(place, kDotRadius, stroke.colour);
  }

  void paint_band(std::span<const Bucket> buckets, const Stroke& stroke) {
    const bool exact = std::all_of(buckets.begin(), buckets.end(), [](const Bucket& b) { return b.count == 1; });
    if (exact) return;
    std::vector<Place> upper;
    std::vector<Place> lower;
    for (const Bucket& bucket : buckets) {
      upper.push_back(at(static_cast<double>(bucket.max_step), bucket.max));
      lower.push_back(at(static_cast<double>(bucket.min_step), bucket.min));
    }
    // Outlined as well as filled: a spike of one point is narrower than a pixel and would else be all but invisible.
    const Pen edge{stroke.colour.faded(0.7), 0.8, Pen::Dash::none};
    plot_.canvas.path(upper, edge);
    plot_.canvas.path(lower, edge);
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    plot_.canvas.polygon(upper, stroke.colour.faded(0.22));
  }

  void paint_crosses(const std::vector<Bucket>& buckets, const Stroke& stroke) {
    double last = -HUGE_VAL;
    bool any = false;
    const double y = plot_.area.y + 7 + 9 * rows_of_crosses_;
    for (const Bucket& bucket : buckets) {
      if (bucket.nonfinite == 0) continue;
      any = true;
      const double x = plot_.x_of(static_cast<double>(bucket.first_nonfinite_step));
      if (x - last < kCrossSpacing || x < plot_.area.x - 1 || x > plot_.area.right() + 1) continue;
      plot_.canvas.cross({x, y}, kCrossRadius, {stroke.colour, 1.4, Pen::Dash::none});
      last = x;
    }
    if (any) rows_of_crosses_ = std::min(rows_of_crosses_ + 1, 3);
  }

  const Plot& plot_;
  const ValueAxis& axis_;
  int rows_of_crosses_ = 0;
};

Stroke stroke_of(const Line& line, std::size_t number, const Palette& colours) {
  if (line.faint) return {colours.context, kFaintWidth, Pen::Dash::none};
  return {line.depth ? depth_colour(*line.depth, colours) : colours.curve(number), kLineWidth,
          line.dashed ? Pen::Dash::dashed : Pen::Dash::none};
}

}  // namespace

void draw_grid(const Plot& plot, const ValueAxis& axis) {
  const Type label{kSmallSize, plot.colours.faint, false};
  double last = HUGE_VAL;
  const std::vector<Tick> ticks = axis.ticks(tick_count(plot.area.height));
  const bool dense = plot.area.height < kGridSpacing * static_cast<double>(ticks.size());
  for (const Tick& tick : ticks) {
    if (tick.share < 0 || tick.share > 1 || (dense && tick.label.empty())) continue;
    const double y = plot.y_of(tick.share);
    plot.canvas.line({plot.area.x, y}, {plot.area.right(), y}, {plot.colours.grid, 1, Pen::Dash::none});
    // The zero of a logarithmic axis may come close to the lowest decade.
    if (tick.label.empty() || std::fabs(last - y) < kSmallSize) continue;
    plot.canvas.text(tick.label, {plot.area.x - 7, y + kSmallSize * 0.36}, label, Align::right);
    last = y;
  }
}

void draw_levels(const Plot& plot, const ValueAxis& axis, const std::vector<Level>& levels) {
  const Type type{kSmallSize, plot.colours.faint, false};
  std::vector<double> taken;
  for (const Level& level : levels) {
    if (!axis.shows(level)) continue;
    const double y = plot.y_of(axis.share(level.value));
    plot.canvas.line({plot.area.x, y}, {plot.area.right(), y}, {plot.colours.faint, 1, Pen::Dash::dashed});
    // Above its line, or below where there is no room, and nowhere when another's words stand there.
    const bool above = y - plot.area.y > kRowHeight + 2;
    const double base = above ? y - 4 : y + kSmallSize + 3;
    const auto near = [base](double other) { return std::fabs(other - base) < kSmallSize + 4; };
    if (std::any_of(taken.begin(), taken.end(), near)) continue;
    taken.push_back(base);
    // On a ground of its own, so that curves do not cross the words.
    const double width = plot.canvas.width_of(level.label, type);
    plot.canvas.fill({plot.area.right() - width - 8, base - kSmallSize, width + 6, kSmallSize + 3},
                     plot.colours.plot.faded(0.85), 2);
    plot.canvas.text(level.label, {plot.area.right() - 5, base}, type, Align::right);
  }
}

int tick_count(double height) {
  return std::clamp(static_cast<int>(height / 34), 2, 8);
}

ValueAxis axis_of(const Lines& lines, const std::vector<Level>& levels) {
  const std::optional<Spread> spread = spread_of(lines);
  return {spread.value_or(Spread{0, 1, 1, 1, 1, false}), lines.scale, levels};
}

void draw_lines(const Plot& plot, const Lines& lines, const std::vector<Level>& levels) {
  const bool finite = spread_of(lines).has_value();
  const ValueAxis axis = axis_of(lines, levels);
  if (finite) draw_grid(plot, axis);
  LinePainter painter(plot, axis);
  for (const Line& line : lines.lines) {
    if (line.faint) painter.paint(line, stroke_of(line, 0, plot.colours));
  }
  std::size_t number = 0;
  for (const Line& line : lines.lines) {
    if (!line.faint) painter.paint(line, stroke_of(line, number++, plot.colours));
  }
  if (finite) draw_levels(plot, axis, levels);
  if (!finite) {
    plot.canvas.text("no finite value", {plot.area.x + plot.area.width / 2, plot.area.y + plot.area.height / 2 + 4},
                     {kTextSize, plot.colours.faint, false}, Align::centre);
  }
}

std::vector<LegendEntry> legend_of(const Panel& panel, const Palette& colours) {
  constexpr std::size_t kNamed = 8;
  std::vector<LegendEntry> entries;
  if (const auto* chart = std::get_if<Chart>(&panel.content)) {
    std::size_t curve = 0;
    for (const Chart::Curve& each : chart->curves) {
      const Colour colour = each.faint ? colours.context : colours.curve(curve++);
      entries.push_back({each.name, {colour, 2, Pen::Dash::none}, LegendEntry::Sign::line, ""});
    }
  }
  const auto* lines = std::get_if<Lines>(&panel.content);
  if (lines == nullptr) return entries;
  bool crosses = false;
  bool faint = false;
  std::size_t number = 0;
  for (const Line& line : lines->lines) {
    crosses = crosses || std::any_of(line.buckets.begin(), line.buckets.end(),
                                     [](const Bucket& bucket) { return bucket.nonfinite > 0; });
    faint = faint || line.faint;
    if (line.faint) continue;
    const Stroke stroke = stroke_of(line, number++, colours);
    entries.push_back({line.name, {stroke.colour, 2, stroke.dash}, LegendEntry::Sign::line, ""});
  }
  const bool by_depth = !entries.empty() && std::all_of(lines->lines.begin(), lines->lines.end(),
                                                        [](const Line& line) { return line.depth || line.faint; });
  if (entries.size() > kNamed && by_depth) {
    entries = {{entries.front().name, {}, LegendEntry::Sign::scale, entries.back().name}};
  } else if (entries.size() > kNamed) {
    const std::size_t more = entries.size() - kNamed + 1;
    entries.resize(kNamed - 1);
    entries.push_back(
        {fmt::format("and {} more", more), {colours.page, 0, Pen::Dash::none}, LegendEntry::Sign::line, ""});
  }
  if (faint) entries.push_back({"other layers", {colours.context, 2, Pen::Dash::none}, LegendEntry::Sign::line, ""});
  if (crosses) {
    entries.push_back({"NaN or Inf", {colours.ink, 1.4, Pen::Dash::none}, LegendEntry::Sign::cross, ""});
  }
  return entries;
}

}  // namespace osler::figure
