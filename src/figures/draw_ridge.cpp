// Ridges: distributions one above the other, the first step at the top and the newest in front.
#include <algorithm>
#include <cmath>

#include "figures/drawing.h"
#include "report/numbers.h"

namespace osler::figure {
namespace {

constexpr double kOverlap = 2.6;     // how many rows the highest peak may cover
constexpr std::size_t kGrid = 160;   // the bins of a log are uneven; a drawn row has this many even ones
constexpr double kLeftOut = 0.0005;  // of the values at either end, so that one stray value does not flatten the rest

/// How many values lie below each edge.
std::vector<double> cumulated(const Ridge::Row& row) {
  std::vector<double> below = {0};
  for (const double mass : row.masses) below.push_back(below.back() + std::max(mass, 0.0));
  return below;
}

/// The range of values that holds nearly all of every row.
std::pair<double, double> range_of(const Ridge& ridge) {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const Ridge::Row& row : ridge.rows) {
    const std::vector<double> below = cumulated(row);
    const double out = kLeftOut * below.back();
    const auto first = std::upper_bound(below.begin(), below.end(), out);
    const auto last = std::lower_bound(below.begin(), below.end(), below.back() - out);
    if (first == below.end()) continue;
    low = std::min(low, row.edges[static_cast<std::size_t>(first - below.begin()) - 1]);
    high = std::max(high, row.edges[static_cast<std::size_t>(last - below.begin())]);
  }
  if (!(low < high)) return {-1, 1};
  return {low, high};
}

/// The row in even bins between `low` and `high`; values are taken to be spread evenly within a bin of the log.
std::vector<double> resampled(const Ridge::Row& row, double low, double high) {
  const std::vector<double> below = cumulated(row);
  const auto below_value = [&](double value) {
    const auto edge = std::upper_bound(row.edges.begin(), row.edges.end(), value);
    if (edge == row.edges.begin()) return 0.0;
    if (edge == row.edges.end()) return below.back();
    const auto bin = static_cast<std::size_t>(edge - row.edges.begin()) - 1;
    const double share = (value - row.edges[bin]) / (row.edges[bin + 1] - row.edges[bin]);
    return below[bin] + share * (below[bin + 1] - below[bin]);
  };
  std::vector<double> heights;
  double before = below_value(low);
  for (std::size_t i = 1; i <= kGrid; ++i) {
    const double here = below_value(low + (high - low) * static_cast<double>(i) / kGrid);
    heights.push_back(here - before);
    before = here;
  }
  return heights;
}

}  // namespace

void draw_ridge(const Plot& plot, const Ridge& ridge) {
  if (ridge.rows.empty()) return;
  const auto [low, high] = range_of(ridge);
  const auto x_of = [&plot, low = low, high = high](double value) {
    return plot.area.x + plot.area.width * std::clamp((value - low) / (high - low), 0.0, 1.0);
  };
  const Type type{kSmallSize, plot.colours.faint, false};
  for (const RoundValue& round : round_values(low, high, static_cast<int>(plot.area.width / 90))) {
    const double x = x_of(round.value);
    plot.canvas.line({x, plot.area.y}, {x, plot.area.bottom()}, {plot.colours.grid, 1, Pen::Dash::none});
    plot.canvas.text(round.label, {x, plot.area.bottom() + 14}, type, Align::centre);
  }
  const double rows = static_cast<double>(ridge.rows.size());
  const double row_height = plot.area.height / (rows + kOverlap - 1);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil((kSmallSize + 3) / row_height)));
  for (std::size_t i = 0; i < ridge.rows.size(); ++i) {
    const Ridge::Row& row = ridge.rows[i];
    const std::vector<double> heights = resampled(row, low, high);
    const double peak = *std::max_element(heights.begin(), heights.end());
    if (!(peak > 0)) continue;
    const double base = plot.area.y + row_height * (static_cast<double>(i) + kOverlap);
    std::vector<Place> outline = {{plot.area.x, base}};
    for (std::size_t bin = 0; bin < kGrid; ++bin) {
      // Each row at its own peak: what matters is the shape and where it lies, not how many values there are.
      const double x = plot.area.x + plot.area.width * (static_cast<double>(bin) + 0.5) / kGrid;
      outline.push_back({x, base - row_height * (kOverlap - 0.2) * heights[bin] / peak});
    }
    outline.push_back({plot.area.right(), base});
    const double age = rows > 1 ? static_cast<double>(i) / (rows - 1) : 1;
    plot.canvas.polygon(outline, depth_colour(age, plot.colours));
    plot.canvas.path(outline, {plot.colours.page, 0.8, Pen::Dash::none});
    if (i % every == 0) {
      plot.canvas.text(layout::grouped(row.step), {plot.area.x - 7, base}, type, Align::right);
    }
  }
}

}  // namespace osler::figure
