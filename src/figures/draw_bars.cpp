// Bars: a value for each of a few named things, with its error.
#include <algorithm>
#include <cmath>

#include "figures/drawing.h"
#include "report/numbers.h"

namespace osler::figure {
namespace {

constexpr double kFill = 0.66;      // of a row
constexpr double kNumberRoom = 64;  // right of the longest bar, for its number

struct Reach {
  double low = 0;
  double high = 0;
};

/// From zero to the last whisker on either side.
Reach reach_of(const Bars& bars) {
  Reach reach;
  for (std::size_t i = 0; i < bars.values.size(); ++i) {
    if (!std::isfinite(bars.values[i])) continue;
    const double error = i < bars.errors.size() && std::isfinite(bars.errors[i]) ? bars.errors[i] : 0;
    reach.low = std::min(reach.low, bars.values[i] - error);
    reach.high = std::max(reach.high, bars.values[i] + error);
  }
  if (!(reach.high > reach.low)) reach.high = reach.low + 1;
  return reach;
}

}  // namespace

void draw_bars(const Plot& plot, const Bars& bars) {
  if (bars.names.empty() || bars.names.size() != bars.values.size()) return;
  const Reach reach = reach_of(bars);
  const double width = std::max(20.0, plot.area.width - kNumberRoom);
  const auto x_of = [&](double value) { return plot.area.x + width * (value - reach.low) / (reach.high - reach.low); };
  const double row = plot.area.height / static_cast<double>(bars.names.size());
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil((kSmallSize + 2) / row)));
  const Type name{kSmallSize, plot.colours.faint, false};
  const Type figure{kSmallSize, plot.colours.ink, false};
  for (std::size_t i = 0; i < bars.names.size(); ++i) {
    const double middle = plot.area.y + row * (static_cast<double>(i) + 0.5);
    const bool labelled = i % every == 0;
    if (labelled) {
      plot.canvas.text(plot.canvas.fitted(bars.names[i], plot.area.x - 14, name),
                       {plot.area.x - 7, middle + kSmallSize * 0.36}, name, Align::right);
    }
    if (!std::isfinite(bars.values[i])) continue;
    const double end = x_of(bars.values[i]);
    const double zero = x_of(0);
    plot.canvas.fill({std::min(zero, end), middle - row * kFill / 2, std::max(1.0, std::fabs(end - zero)), row * kFill},
                     plot.colours.curve(0).faded(0.85));
    double right = std::max(end, zero);
    if (i < bars.errors.size() && std::isfinite(bars.errors[i])) {
      const Pen whisker{plot.colours.ink, 1, Pen::Dash::none};
      const double from = x_of(bars.values[i] - bars.errors[i]);
      const double to = x_of(bars.values[i] + bars.errors[i]);
      plot.canvas.line({from, middle}, {to, middle}, whisker);
      for (const double x : {from, to}) plot.canvas.line({x, middle - 3}, {x, middle + 3}, whisker);
      right = std::max(right, to);
    }
    if (labelled) {
      plot.canvas.text(layout::short_number(bars.values[i]), {right + 6, middle + kSmallSize * 0.36}, figure);
    }
  }
  plot.canvas.line({x_of(0), plot.area.y}, {x_of(0), plot.area.bottom()}, {plot.colours.faint, 1, Pen::Dash::none});
}

}  // namespace osler::figure
