// Contours: a height over a plane in colours, with lines where it is the same.
#include <algorithm>
#include <array>
#include <cmath>

#include "figures/drawing.h"
#include "figures/shading.h"

namespace osler::figure {
namespace {

constexpr int kFine = 96;   // cells of the drawn plane along each side
constexpr int kLines = 10;  // lines of equal height

/// The height between the points that were measured.
class Plane {
 public:
  explicit Plane(const Contour& contour) : contour_(contour) {}

  /// By shares of both axes, straight between neighbours; in decades where the scale is logarithmic.
  [[nodiscard]] double at(double across, double up) const {
    const double x = across * static_cast<double>(contour_.x.size() - 1);
    const double y = up * static_cast<double>(contour_.y.size() - 1);
    const std::size_t i = std::min(static_cast<std::size_t>(x), contour_.x.size() - 2);
    const std::size_t k = std::min(static_cast<std::size_t>(y), contour_.y.size() - 2);
    const double a = x - static_cast<double>(i);
    const double b = y - static_cast<double>(k);
    const double low = (1 - a) * measured(i, k) + a * measured(i + 1, k);
    const double high = (1 - a) * measured(i, k + 1) + a * measured(i + 1, k + 1);
    const double height = (1 - b) * low + b * high;
    return contour_.log ? std::pow(10, height) : height;
  }

 private:
  [[nodiscard]] double measured(std::size_t i, std::size_t k) const {
    const double cell = contour_.cells[k * contour_.x.size() + i];
    return contour_.log ? std::log10(cell) : cell;
  }

  const Contour& contour_;
};

void draw_colours(const Plot& plot, const Plane& plane, const Shading& shading) {
  const double width = plot.area.width / kFine;
  const double height = plot.area.height / kFine;
  for (int row = 0; row < kFine; ++row) {
    const auto shade = [&](int column) { return shading.shade(plane.at((column + 0.5) / kFine, (row + 0.5) / kFine)); };
    for (int begin = 0; begin < kFine;) {
      const int here = shade(begin);
      int end = begin + 1;
      while (end < kFine && shade(end) == here) ++end;
      if (here != Shading::kNothing) {
        plot.canvas.fill({plot.area.x + width * begin, plot.area.bottom() - height * (row + 1),
                          width * (end - begin) + 0.4, height + 0.4},
                         shading.colour(here));
      }
      begin = end;
    }
  }
}

/// The line of one height through one cell of the drawn plane: where it crosses the cell's sides.
void draw_crossing(const Plot& plot, const std::array<double, 4>& corners, double level, int column, int row,
                   const Pen& pen) {
  constexpr std::array<std::array<double, 2>, 4> kCorners = {{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
  std::vector<Place> crossings;
  for (std::size_t side = 0; side < 4; ++side) {
    const double from = corners[side];
    const double to = corners[(side + 1) % 4];
    if (!std::isfinite(from) || !std::isfinite(to) || (from < level) == (to < level)) continue;
    const double share = (level - from) / (to - from);
    const auto& a = kCorners[side];
    const auto& b = kCorners[(side + 1) % 4];
    crossings.push_back({plot.area.x + plot.area.width * (column + a[0] + share * (b[0] - a[0])) / kFine,
                         plot.y_of((row + a[1] + share * (b[1] - a[1])) / kFine)});
  }
  for (std::size_t i = 0; i + 1 < crossings.size(); i += 2) plot.canvas.line(crossings[i], crossings[i + 1], pen);
}

void draw_heights(const Plot& plot, const Plane& plane, const Shading& shading) {
  const Pen pen{{1, 1, 1, 0.75}, 0.8, Pen::Dash::none};
  constexpr int kSide = kFine + 1;
  std::vector<double> heights;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      heights.push_back(plane.at(static_cast<double>(column) / kFine, static_cast<double>(row) / kFine));
    }
  }
  const auto height = [&](int column, int row) { return heights[static_cast<std::size_t>(row * kSide + column)]; };
  for (int line = 1; line < kLines; ++line) {
    const double level = shading.value(static_cast<double>(line) / kLines);
    for (int row = 0; row < kFine; ++row) {
      for (int column = 0; column < kFine; ++column) {
        draw_crossing(
            plot, {height(column, row), height(column + 1, row), height(column + 1, row + 1), height(column, row + 1)},
            level, column, row, pen);
      }
    }
  }
}

/// The weights themselves, where both axes are zero.
void draw_origin(const Plot& plot, const Contour& contour) {
  const auto share = [](const std::vector<double>& axis) { return -axis.front() / (axis.back() - axis.front()); };
  const double across = share(contour.x);
  const double up = share(contour.y);
  if (!(across >= 0 && across <= 1 && up >= 0 && up <= 1)) return;
  const Place place{plot.area.x + plot.area.width * across, plot.y_of(up)};
  plot.canvas.ring(place, 5, {{1, 1, 1, 1}, 2, Pen::Dash::none});
  plot.canvas.disc(place, 2.2, {1, 1, 1, 1});
}

/// Round values between the ends of an axis, which is drawn without air around it.
void draw_ticks(const Plot& plot, const Contour& contour) {
  const Type type{kSmallSize, plot.colours.faint, false};
  const Pen pen{plot.colours.faint, 1, Pen::Dash::none};
  const double base = plot.area.bottom() + kTickLength + kSmallSize + 1;
  const double width = contour.x.back() - contour.x.front();
  for (const RoundValue& round : round_values(contour.x.front(), contour.x.back(), 8)) {
    const double x = plot.area.x + plot.area.width * (round.value - contour.x.front()) / width;
    plot.canvas.line({x, plot.area.bottom()}, {x, plot.area.bottom() + kTickLength}, pen);
    plot.canvas.text(round.label, {x, base}, type, Align::centre);
  }
  const double height = contour.y.back() - contour.y.front();
  for (const RoundValue& round : round_values(contour.y.front(), contour.y.back(), tick_count(plot.area.height))) {
    const double y = plot.y_of((round.value - contour.y.front()) / height);
    plot.canvas.line({plot.area.x - kTickLength, y}, {plot.area.x, y}, pen);
    plot.canvas.text(round.label, {plot.area.x - 7, y + kSmallSize * 0.36}, type, Align::right);
  }
  plot.canvas.text(contour.label, {plot.area.x + plot.area.width / 2, base + kSmallSize + 4}, type, Align::centre);
}

}  // namespace

ValueAxis axis_of(const Contour& contour) {
  const double low = contour.y.empty() ? 0 : contour.y.front();
  const double high = contour.y.empty() ? 1 : contour.y.back();
  return {Spread{low, high, std::max(high, 0.0), std::max(high, 0.0), high, false}, Lines::Scale::linear, {}};
}

void draw_contour(const Plot& plot, const Contour& contour) {
  const bool whole =
      contour.x.size() >= 2 && contour.y.size() >= 2 && contour.cells.size() == contour.x.size() * contour.y.size();
  if (!whole) return;
  // A plane has no long side: a square at the left, the rest of the width stays free.
  Plot square = plot;
  square.area.width = std::min(plot.area.width, plot.area.height * 1.25);
  const Shading shading(contour.cells, contour.log, plot.colours);
  const Plane plane(contour);
  square.canvas.clip(square.area);
  draw_colours(square, plane, shading);
  draw_heights(square, plane, shading);
  draw_origin(square, contour);
  square.canvas.unclip();
  draw_ticks(square, contour);
  draw_colour_bar(square, contour.cells, shading);
}

}  // namespace osler::figure
