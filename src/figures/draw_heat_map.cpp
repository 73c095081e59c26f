// Heat maps: layers from top to bottom, time from left to right, a value as a colour.
#include <algorithm>
#include <cmath>

#include "figures/drawing.h"
#include "figures/shading.h"
#include "report/numbers.h"

namespace osler::figure {
namespace {

void draw_cells(const Plot& plot, const HeatMap& map, const Shading& shading) {
  const std::size_t columns = map.edges.size() - 1;
  const double row_height = plot.area.height / static_cast<double>(map.rows.size());
  plot.canvas.clip(plot.area);
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const double y = plot.area.y + row_height * static_cast<double>(row);
    for (std::size_t begin = 0; begin < columns;) {
      const int shade = shading.shade(map.cells[row * columns + begin]);
      std::size_t end = begin + 1;
      while (end < columns && shading.shade(map.cells[row * columns + end]) == shade) ++end;
      if (shade != Shading::kNothing) {
        const double left = plot.x_of(static_cast<double>(map.edges[begin]));
        const double right = plot.x_of(static_cast<double>(map.edges[end]));
        // A little larger than it is, so that no seam shows; the next cell covers it.
        plot.canvas.fill({left, y, right - left + 0.4, row_height + (row + 1 < map.rows.size() ? 0.4 : 0)},
                         shading.colour(shade));
      }
      begin = end;
    }
  }
  plot.canvas.unclip();
}

void draw_row_labels(const Plot& plot, const HeatMap& map) {
  const double row_height = plot.area.height / static_cast<double>(map.rows.size());
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil((kSmallSize + 2) / row_height)));
  const Type type{kSmallSize, plot.colours.faint, false};
  for (std::size_t row = 0; row < map.rows.size(); row += every) {
    const double y = plot.area.y + row_height * (static_cast<double>(row) + 0.5) + kSmallSize * 0.36;
    plot.canvas.text(plot.canvas.fitted(map.rows[row], plot.area.x - 14, type), {plot.area.x - 7, y}, type,
                     Align::right);
  }
}

}  // namespace

void draw_heat_map(const Plot& plot, const HeatMap& map) {
  if (map.rows.empty() || map.edges.size() < 2) return;
  const Shading shading(map.cells, map.log, plot.colours);
  draw_cells(plot, map, shading);
  draw_row_labels(plot, map);
  draw_colour_bar(plot, map.cells, shading);
}

}  // namespace osler::figure
