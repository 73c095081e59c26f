// Heat maps: layers from top to bottom, time from left to right, a value as a colour.
#include <algorithm>
#include <cmath>

#include "report/figures/drawing.h"
#include "report/numbers.h"

namespace osler::figure {
namespace {

constexpr double kBarWidth = 10;
constexpr int kShades = 64;  // finer steps cannot be told apart, and coarser ones let neighbours be drawn as one

/// From values to shades.
class Shading {
 public:
  Shading(const HeatMap& map, const Palette& colours) : log_(map.log), colours_(colours) {
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (const double cell : map.cells) {
      if (!std::isfinite(cell) || (log_ && cell <= 0)) continue;
      low = std::min(low, cell);
      high = std::max(high, cell);
    }
    if (!(low <= high)) low = high = 1;
    low_ = log_ ? std::log10(low) : low;
    high_ = log_ ? std::log10(high) : high;
    // Noise is not blown up to the whole range of colours.
    const double least = log_ ? 1 : std::max(1e-12, 0.2 * std::max(std::fabs(low_), std::fabs(high_)));
    if (high_ - low_ < least) {
      const double middle = (low_ + high_) / 2;
      low_ = middle - least / 2;
      high_ = middle + least / 2;
    }
  }

  /// A shade from 0 to kShades - 1, or one of the special ones.
  static constexpr int kNothing = -1;
  static constexpr int kZero = -2;
  static constexpr int kNonfinite = -3;
  [[nodiscard]] int shade(double cell) const {
    if (std::isnan(cell)) return kNothing;
    if (std::isinf(cell)) return kNonfinite;
    if (log_ && cell <= 0) return kZero;
    const double share = ((log_ ? std::log10(cell) : cell) - low_) / (high_ - low_);
    return std::clamp(static_cast<int>(share * kShades), 0, kShades - 1);
  }

  [[nodiscard]] Colour colour(int shade) const {
    if (shade == kZero) return colours_.zero;
    if (shade == kNonfinite) return colours_.nonfinite;
    return heat((shade + 0.5) / kShades);
  }

  [[nodiscard]] std::vector<Tick> ticks(int most) const {
    std::vector<Tick> ticks;
    if (!log_) {
      for (const RoundValue& round : round_values(low_, high_, most)) {
        ticks.push_back({(round.value - low_) / (high_ - low_), round.label});
      }
      return ticks;
    }
    const int first = static_cast<int>(std::ceil(low_ - 1e-9));
    const int last = static_cast<int>(std::floor(high_ + 1e-9));
    if (last - first < 1) {  // hardly a decade: round values do better than powers of ten
      for (const RoundValue& round : round_values(std::pow(10, low_), std::pow(10, high_), most)) {
        if (round.value > 0) ticks.push_back({(std::log10(round.value) - low_) / (high_ - low_), round.label});
      }
      return ticks;
    }
    const int stride = (last - first) / std::max(1, most) + 1;
    for (int decade = first; decade <= last; decade += stride) {
      ticks.push_back({(decade - low_) / (high_ - low_), decade_label(decade, first >= -3 && last <= 4)});
    }
    return ticks;
  }

 private:
  bool log_;
  const Palette& colours_;
  double low_ = 0;
  double high_ = 1;
};

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

void draw_colour_bar(const Plot& plot, const HeatMap& map, const Shading& shading) {
  const double x = plot.area.right() + 12;
  const Type type{kSmallSize, plot.colours.faint, false};
  std::vector<int> special;
  for (const int shade : {Shading::kZero, Shading::kNonfinite}) {
    if (std::any_of(map.cells.begin(), map.cells.end(), [&](double cell) { return shading.shade(cell) == shade; })) {
      special.push_back(shade);
    }
  }
  const double top = plot.area.y;
  const double height = std::max(20.0, plot.area.height - 15 * static_cast<double>(special.size()));
  for (int i = 0; i < kShades; ++i) {
    const double y = top + height * (1 - static_cast<double>(i + 1) / kShades);
    plot.canvas.fill({x, y, kBarWidth, height / kShades + 0.3}, shading.colour(i));
  }
  double last = HUGE_VAL;
  for (const Tick& tick : shading.ticks(std::max(2, static_cast<int>(height / 30)))) {
    const double y = top + height * (1 - tick.share);
    if (tick.share < 0 || tick.share > 1 || std::fabs(last - y) < kSmallSize) continue;
    last = y;
    plot.canvas.line({x + kBarWidth, y}, {x + kBarWidth + 3, y}, {plot.colours.faint, 1, Pen::Dash::none});
    plot.canvas.text(tick.label, {x + kBarWidth + 6, std::clamp(y + kSmallSize * 0.36, top + 7, top + height)}, type);
  }
  double y = top + height + 5;
  for (const int shade : special) {
    plot.canvas.fill({x, y, kBarWidth, 10}, shading.colour(shade));
    plot.canvas.outline({x, y, kBarWidth, 10}, {plot.colours.faint, 0.5, Pen::Dash::none});
    plot.canvas.text(shade == Shading::kZero ? "zero" : "NaN, Inf", {x + kBarWidth + 6, y + 8.5}, type);
    y += 15;
  }
}

}  // namespace

void draw_heat_map(const Plot& plot, const HeatMap& map) {
  if (map.rows.empty() || map.edges.size() < 2) return;
  const Shading shading(map, plot.colours);
  draw_cells(plot, map, shading);
  draw_row_labels(plot, map);
  draw_colour_bar(plot, map, shading);
}

}  // namespace osler::figure
