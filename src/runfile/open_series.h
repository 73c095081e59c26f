// OpenSeries: the newest points and nodes of a series while they fill their chunks.
#pragma once

#include <cstdint>
#include <vector>

#include "osler/run/summary.h"
#include "runfile/chunk.h"

namespace osler::runfile {

/// A stretch of one level that is full, or is closed as it is.
struct ClosedChunk {
  std::int64_t series = 0;
  std::size_t level = 0;
  std::int64_t segment = 0;
  std::int64_t start = 0;  ///< the place of its first entry among all entries of its series, segment and level
  std::size_t entries = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::int64_t row = 0;  ///< the id it has in the file already, 0 when it has none
  PackedChunk packed;
};

/// One series within one segment.
class OpenSeries {
 public:
  /// A series that goes on after `start` points which are in the file already.
  explicit OpenSeries(std::int64_t series, std::int64_t segment, std::int64_t start = 0)
      : committed(start), series_(series), segment_(segment), start_(start), whole_(start == 0) {}

  /// Takes the next point. A chunk is closed when it has `capacity` entries, a multiple of kFanout.
  void add(const Point& point, std::size_t capacity, std::vector<ClosedChunk>& closed);
  /// Packs what is open; it stays open.
  void snapshot(std::vector<ClosedChunk>& chunks) const;
  /// Remembers the row in which the open stretch of a level lies.
  void placed(std::size_t level, std::int64_t row);

  /// The points that are open, and the place of the first of them.
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  [[nodiscard]] std::int64_t start() const { return start_; }
  [[nodiscard]] std::int64_t total() const { return start_ + static_cast<std::int64_t>(points_.size()); }

  std::int64_t committed = 0;  ///< points up to here are in the file

 private:
  struct Level {
    std::vector<Node> nodes;
    std::int64_t start = 0;
    std::int64_t row = 0;
  };

  void grow(std::size_t level, const Node& node, std::size_t capacity, std::vector<ClosedChunk>& closed);
  [[nodiscard]] ClosedChunk close_points() const;
  [[nodiscard]] ClosedChunk close_nodes(std::size_t level) const;

  std::int64_t series_ = 0;
  std::int64_t segment_ = 0;
  std::int64_t start_ = 0;
  bool whole_ = true;  // begins where the segment does, so that nodes can stand over the points
  std::int64_t row_ = 0;
  std::vector<Point> points_;
  std::vector<Level> levels_;  // [0] is level 1
};

}  // namespace osler::runfile
