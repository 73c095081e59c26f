// How the parts of a figure are drawn: sizes, and one function for each kind of content.
#pragma once

#include "figures/axis.h"
#include "figures/canvas.h"
#include "figures/palette.h"

namespace osler::figure {

// Sizes in units of the page.
inline constexpr double kTitleSize = 15;
inline constexpr double kTextSize = 11;
inline constexpr double kSmallSize = 9.5;
inline constexpr double kRowHeight = 16;
inline constexpr double kTickLength = 4;

/// A plot about to be drawn: where, of what, in which colours.
struct Plot {
  Canvas& canvas;
  const Palette& colours;
  const Figure& figure;
  Box area;  ///< inside the axes

  [[nodiscard]] double x_of(double step) const {
    return area.x +
           area.width * step_share(step, static_cast<double>(figure.first_step), static_cast<double>(figure.last_step));
  }
  [[nodiscard]] double y_of(double share) const { return area.bottom() - area.height * share; }
};

/// One word or more in a legend, with the stroke it explains.
struct LegendEntry {
  enum class Sign { line, cross, square, scale };
  std::string name;
  Pen pen;
  Sign sign = Sign::line;
  std::string to;  ///< for a scale: the name at its other end
};
[[nodiscard]] std::vector<LegendEntry> legend_of(const Panel& panel, const Palette& colours);
/// Draws heading and legend in rows from `top` on; with `draw` false only measures. Returns the height.
double draw_heading(Canvas& canvas, const Palette& colours, const Panel& panel, const Box& box, bool draw);

/// The room that a panel's labels need left of its plot, and right of it.
[[nodiscard]] double left_margin(Canvas& canvas, const Panel& panel, double height);
[[nodiscard]] double right_margin(const Panel& panel);

void draw_lines(const Plot& plot, const Lines& lines, const std::vector<Level>& levels);
void draw_heat_map(const Plot& plot, const HeatMap& map);
void draw_ridge(const Plot& plot, const Ridge& ridge);
void draw_chart(const Plot& plot, const Chart& chart, const std::vector<Level>& levels);
void draw_contour(const Plot& plot, const Contour& contour);
void draw_bars(const Plot& plot, const Bars& bars);
/// The horizontal axis of a chart or a contour: ticks below the plot, and what they count.
void draw_own_axis(const Plot& plot, const ValueAxis& axis, const std::string& label);
/// Lines across the plot at the ticks of its vertical axis, with their labels.
void draw_grid(const Plot& plot, const ValueAxis& axis);
/// Lines at levels that mean something, with their labels.
void draw_levels(const Plot& plot, const ValueAxis& axis, const std::vector<Level>& levels);

/// The value axis of a panel of lines.
[[nodiscard]] ValueAxis axis_of(const Lines& lines, const std::vector<Level>& levels);
/// The vertical axes of a chart and of a contour.
[[nodiscard]] ValueAxis axis_of(const Chart& chart, const std::vector<Level>& levels);
[[nodiscard]] ValueAxis axis_of(const Contour& contour);
[[nodiscard]] int tick_count(double height);

/// How tall the figure wants to be at a width.
[[nodiscard]] double natural_height(Canvas& canvas, const Figure& figure, double width);
/// Draws the whole figure into `box`.
void draw_figure(Canvas& canvas, const Palette& colours, const Figure& figure, const Box& box);

}  // namespace osler::figure
