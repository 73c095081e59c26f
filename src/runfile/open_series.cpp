// Filling chunks, level above level.
#include "runfile/open_series.h"

#include <algorithm>

namespace osler::runfile {

void OpenSeries::add(const Point& point, std::size_t capacity, std::vector<ClosedChunk>& closed) {
  points_.push_back(point);
  if (points_.size() % kFanout != 0) return;
  if (whole_) grow(1, node_of(std::span(points_).last(kFanout)), capacity, closed);
  if (points_.size() < capacity) return;
  closed.push_back(close_points());
  start_ = total();
  points_.clear();
  row_ = 0;
}

void OpenSeries::grow(std::size_t level, const Node& node, std::size_t capacity, std::vector<ClosedChunk>& closed) {
  if (levels_.size() < level) levels_.resize(level);
  Level& own = levels_[level - 1];
  own.nodes.push_back(node);
  if (own.nodes.size() % kFanout != 0) return;
  if (level < kMostLevel) {
    grow(level + 1, node_of(std::span(own.nodes).last(kFanout), points_under(level)), capacity, closed);
  }
  Level& again = levels_[level - 1];  // growing above may have moved it
  if (again.nodes.size() < capacity) return;
  closed.push_back(close_nodes(level));
  again.start += static_cast<std::int64_t>(again.nodes.size());
  again.nodes.clear();
  again.row = 0;
}

ClosedChunk OpenSeries::close_points() const {
  const auto [low, high] = std::minmax_element(points_.begin(), points_.end(),
                                               [](const Point& a, const Point& b) { return a.step < b.step; });
  return {series_, 0, segment_, start_, points_.size(), low->step, high->step, row_, pack(points_)};
}

ClosedChunk OpenSeries::close_nodes(std::size_t level) const {
  const Level& own = levels_[level - 1];
  std::int64_t first = own.nodes.front().first_step;
  std::int64_t last = own.nodes.front().last_step;
  for (const Node& node : own.nodes) {
    first = std::min(first, node.first_step);
    last = std::max(last, node.last_step);
  }
  return {series_, level, segment_, own.start, own.nodes.size(), first, last, own.row, pack(own.nodes)};
}

void OpenSeries::snapshot(std::vector<ClosedChunk>& chunks) const {
  if (!points_.empty()) chunks.push_back(close_points());
  for (std::size_t level = 1; level <= levels_.size(); ++level) {
    if (!levels_[level - 1].nodes.empty()) chunks.push_back(close_nodes(level));
  }
}

void OpenSeries::placed(std::size_t level, std::int64_t row) {
  if (level == 0) {
    row_ = row;
  } else {
    levels_[level - 1].row = row;
  }
}

}  // namespace osler::runfile
