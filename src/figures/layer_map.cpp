// Layers by time: a heat map of one statistic of every layer.
#include <algorithm>
#include <cmath>

#include "figures/subject.h"
#include "report/numbers.h"

namespace osler::figure {
namespace {

constexpr std::size_t kMostColumns = 120;
constexpr std::size_t kMostRows = 96;

struct Cell {
  double sum = 0;
  double count = 0;
  bool nonfinite = false;

  [[nodiscard]] double value() const {
    if (nonfinite) return HUGE_VAL;
    return count > 0 ? sum / count : std::nan("");
  }
};

/// One series as a row of the map. Columns between two values that hold none of their own keep the one before.
std::vector<double> row_of(const std::vector<Bucket>& buckets, const HeatMap& map) {
  const std::size_t columns = map.edges.size() - 1;
  const auto first = static_cast<double>(map.edges.front());
  const auto last = static_cast<double>(map.edges.back());
  std::vector<Cell> cells(columns);
  std::size_t begin = columns;
  std::size_t end = 0;
  for (const Bucket& bucket : buckets) {
    const double middle = static_cast<double>(bucket.first_step) / 2 + static_cast<double>(bucket.last_step) / 2;
    const double share = last > first ? (middle - first) / (last - first) : 0;
    if (share < 0 || share > 1) continue;
    const std::size_t column = std::min(static_cast<std::size_t>(share * static_cast<double>(columns)), columns - 1);
    Cell& cell = cells[column];
    cell.sum += bucket.mean * static_cast<double>(bucket.count);
    cell.count += static_cast<double>(bucket.count);
    cell.nonfinite = cell.nonfinite || bucket.nonfinite > 0;
    begin = std::min(begin, column);
    end = std::max(end, column + 1);
  }
  std::vector<double> row(columns, std::nan(""));
  for (std::size_t i = begin; i < end; ++i) {
    const double value = cells[i].value();
    row[i] = std::isnan(value) && i > begin ? row[i - 1] : value;
  }
  return row;
}

/// Where many layers share a row, the largest of them counts.
void widen(std::vector<double>& row, const std::vector<double>& other) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (std::isnan(row[i]) || other[i] > row[i]) row[i] = other[i];
  }
}

/// Sizes are read in powers of ten, shares and means as they are.
bool wants_log(const HeatMap& map, std::string_view heading) {
  if (heading.ends_with("share") || heading.ends_with("mean")) return false;
  return std::none_of(map.cells.begin(), map.cells.end(), [](double cell) { return cell < 0; });
}

}  // namespace

Panel layer_map(const Subject& subject, Role role) {
  const std::vector<Layer> layers = subject.layers(role);
  Panel panel;
  panel.heading = layer_heading(layers, role);
  HeatMap map;
  std::vector<std::vector<Bucket>> shown;
  std::size_t columns = 1;
  for (const Layer& layer : layers) {
    shown.push_back(subject.shown(*shown_statistic(layer, role)));
    thin(shown.back(), kMostColumns);
    columns = std::max(columns, shown.back().size());
  }
  columns = std::min(columns, kMostColumns);
  const auto first = static_cast<double>(subject.first_step());
  const auto range = static_cast<double>(subject.last_step()) - first;
  for (std::size_t i = 0; i <= columns; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(columns);
    map.edges.push_back(i == columns ? subject.last_step() : static_cast<std::int64_t>(first + range * share));
  }
  const std::size_t together = (layers.size() + kMostRows - 1) / kMostRows;
  for (std::size_t i = 0; i < layers.size(); i += std::max<std::size_t>(together, 1)) {
    std::vector<double> row = row_of(shown[i], map);
    for (std::size_t k = i + 1; k < std::min(i + together, layers.size()); ++k) widen(row, row_of(shown[k], map));
    map.rows.push_back(layers[i].name);
    map.cells.insert(map.cells.end(), row.begin(), row.end());
  }
  if (together > 1) {
    panel.heading += ", the largest of each " + layout::counted(together, "layer");
  }
  map.log = wants_log(map, layer_heading(layers, role));
  panel.height = std::clamp(static_cast<double>(map.rows.size()) * 0.085, 0.5, 2.4);
  panel.content = std::move(map);
  return panel;
}

}  // namespace osler::figure
