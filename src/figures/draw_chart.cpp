// Charts: curves over something other than steps, with upright lines at places that mean something.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "figures/drawing.h"

namespace osler::figure {
namespace {

constexpr double kLineWidth = 1.6;
constexpr double kFaintWidth = 1;

/// What an axis has to know of some values.
std::optional<Spread> spread_of_values(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); }),
               values.end());
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto positive = std::upper_bound(values.begin(), values.end(), 0.0);
  const double least = positive == values.end() ? 0 : *positive;
  return Spread{values.front(),
                values.back(),
                least,
                least,
                std::fabs(values[values.size() / 2]),
                std::find(values.begin(), values.end(), 0.0) != values.end()};
}

ValueAxis horizontal_axis(const Chart& chart) {
  std::vector<double> values;
  for (const Chart::Curve& curve : chart.curves) values.insert(values.end(), curve.x.begin(), curve.x.end());
  const Spread spread = spread_of_values(std::move(values)).value_or(Spread{0, 1, 1, 1, 1, false});
  return {spread, chart.log_x ? Lines::Scale::log : Lines::Scale::linear, {}};
}

void draw_curve(const Plot& plot, const Chart::Curve& curve, const ValueAxis& across, const ValueAxis& up,
                const Pen& pen) {
  std::vector<Place> piece;
  const auto finish = [&] {
    if (piece.size() > 1) plot.canvas.path(piece, pen);
    piece.clear();
  };
  for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
    if (!std::isfinite(curve.y[i]) || !std::isfinite(curve.x[i])) {
      finish();
      continue;
    }
    piece.push_back({plot.area.x + plot.area.width * across.share(curve.x[i]),
                     plot.y_of(std::clamp(up.share(curve.y[i]), -0.5, 1.5))});
  }
  finish();
}

/// Upright lines, each with its words at the top, on as many rows as they need not to run into each other.
class SignPainter {
 public:
  SignPainter(const Plot& plot, const ValueAxis& across) : plot_(plot), across_(across) {}

  void paint(const Chart::Sign& sign) {
    if (!across_.shows(sign.x)) return;
    const Colour colour = sign.strong ? plot_.colours.healthy : plot_.colours.faint;
    const double x = place(sign.x);
    if (sign.low && sign.high) {
      const double left = place(*sign.low);
      const double right = place(*sign.high);
      plot_.canvas.clip(plot_.area);
      plot_.canvas.fill({left, plot_.area.y, std::max(1.0, right - left), plot_.area.height},
                        colour.faded(plot_.colours.dark ? 0.2 : 0.12));
      plot_.canvas.unclip();
    }
    plot_.canvas.line({x, plot_.area.y}, {x, plot_.area.bottom()},
                      {colour, sign.strong ? 1.6 : 1.0, sign.strong ? Pen::Dash::none : Pen::Dash::dashed});
    write(sign, x, colour);
  }

 private:
  [[nodiscard]] double place(double value) const {
    return plot_.area.x + plot_.area.width * std::clamp(across_.share(value), 0.0, 1.0);
  }

  void write(const Chart::Sign& sign, double x, const Colour& colour) {
    const Type type{kSmallSize, colour, sign.strong};
    const double width = plot_.canvas.width_of(sign.label, type);
    const bool right = x + 6 + width < plot_.area.right();
    const double left = right ? x + 4 : x - 4 - width;
    std::size_t row = 0;
    const auto taken = [&](const Box& box) {
      return box.y == row_top(row) && left < box.right() + 4 && left + width > box.x - 4;
    };
    while (std::any_of(words_.begin(), words_.end(), taken)) ++row;
    const Box box{left, row_top(row), width, kSmallSize + 3};
    words_.push_back(box);
    plot_.canvas.fill({box.x - 2, box.y, box.width + 4, box.height}, plot_.colours.plot.faded(0.85), 2);
    plot_.canvas.text(sign.label, {left, box.y + kSmallSize}, type);
  }

  [[nodiscard]] double row_top(std::size_t row) const { return plot_.area.y + 3 + 14.0 * static_cast<double>(row); }

  const Plot& plot_;
  const ValueAxis& across_;
  std::vector<Box> words_;
};

}  // namespace

ValueAxis axis_of(const Chart& chart, const std::vector<Level>& levels) {
  const bool all_faint =
      std::all_of(chart.curves.begin(), chart.curves.end(), [](const Chart::Curve& curve) { return curve.faint; });
  std::vector<double> values;
  for (const Chart::Curve& curve : chart.curves) {
    if (curve.faint && !all_faint) continue;
    std::copy_if(curve.y.begin(), curve.y.end(), std::back_inserter(values),
                 [&](double value) { return !chart.ceiling || value <= *chart.ceiling; });
  }
  return {spread_of_values(std::move(values)).value_or(Spread{0, 1, 1, 1, 1, false}), chart.scale, levels};
}

void draw_own_axis(const Plot& plot, const ValueAxis& axis, const std::string& label) {
  const Type type{kSmallSize, plot.colours.faint, false};
  const double y = plot.area.bottom();
  plot.canvas.line({plot.area.x, y}, {plot.area.right(), y}, {plot.colours.faint, 1, Pen::Dash::none});
  const double base = y + kTickLength + kSmallSize + 1;
  double free_from = -HUGE_VAL;
  for (const Tick& tick : axis.ticks(std::clamp(static_cast<int>(plot.area.width / 85), 2, 12))) {
    if (tick.share < 0 || tick.share > 1) continue;
    const double x = plot.area.x + plot.area.width * tick.share;
    plot.canvas.line({x, y}, {x, y + kTickLength}, {plot.colours.faint, 1, Pen::Dash::none});
    const double half = plot.canvas.width_of(tick.label, type) / 2;
    if (tick.label.empty() || x - half < free_from) continue;
    plot.canvas.text(tick.label, {x, base}, type, Align::centre);
    free_from = x + half + 8;
  }
  plot.canvas.text(label, {plot.area.x + plot.area.width / 2, base + kSmallSize + 4}, type, Align::centre);
}

void draw_chart(const Plot& plot, const Chart& chart, const std::vector<Level>& levels) {
  const ValueAxis across = horizontal_axis(chart);
  const ValueAxis up = axis_of(chart, levels);
  draw_grid(plot, up);
  SignPainter signs(plot, across);
  for (const Chart::Sign& sign : chart.signs) signs.paint(sign);
  plot.canvas.clip(plot.area);
  for (const Chart::Curve& curve : chart.curves) {
    if (curve.faint) draw_curve(plot, curve, across, up, {plot.colours.context, kFaintWidth, Pen::Dash::none});
  }
  std::size_t number = 0;
  for (const Chart::Curve& curve : chart.curves) {
    if (curve.faint) continue;
    draw_curve(plot, curve, across, up, {plot.colours.curve(number++), kLineWidth, Pen::Dash::none});
  }
  plot.canvas.unclip();
  draw_levels(plot, up, levels);
  draw_own_axis(plot, across, chart.x_label);
}

}  // namespace osler::figure
