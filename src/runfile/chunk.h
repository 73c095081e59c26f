// Chunks: stretches of one series as packed bytes, and the pyramid of nodes above its points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/run/event.h"
#include "osler/run/summary.h"

namespace osler::runfile {

/// Points, or nodes of the level below, under one node.
inline constexpr std::size_t kFanout = 64;
/// Levels above the points: 64^5 is beyond a thousand million points.
inline constexpr std::size_t kMostLevel = 5;
/// A chunk has at most this many entries.
inline constexpr std::size_t kMostEntries = 4096;

/// The number of points under one entry of a level.
[[nodiscard]] constexpr std::uint64_t points_under(std::size_t level) {
  std::uint64_t points = 1;
  for (std::size_t i = 0; i < level; ++i) points *= kFanout;
  return points;
}

/// Wall times are kept in microseconds; no time is the smallest number.
[[nodiscard]] std::int64_t to_micros(double seconds);
[[nodiscard]] double to_seconds(std::int64_t micros);

/// A full group of points, drawn together. Minimum, maximum and mean are of the finite ones, NaN when there are none.
struct Node {
  std::int64_t first_step = 0;  ///< the lowest
  std::int64_t last_step = 0;   ///< the highest
  std::int64_t time = 0;        ///< of the first point
  double min = 0;
  double max = 0;
  double mean = 0;
  std::int64_t nonfinite = 0;
};

[[nodiscard]] Node node_of(std::span<const Point> points);
[[nodiscard]] Node node_of(std::span<const Node> nodes, std::uint64_t points_each);

/// A chunk as two blobs: the axis, which series recorded together have in common, and the rest.
struct PackedChunk {
  std::string axis;
  std::string data;
};
[[nodiscard]] PackedChunk pack(std::span<const Point> points);
[[nodiscard]] PackedChunk pack(std::span<const Node> nodes);
/// Replaces `points`, whose memory is used again.
[[nodiscard]] Result<void> unpack_points(std::string_view axis, std::string_view data, std::size_t entries,
                                         std::vector<Point>& points);
[[nodiscard]] Result<std::vector<Node>> unpack_nodes(std::string_view axis, std::string_view data, std::size_t entries);

/// The newest points of one series that are in no chunk yet.
struct TailGroup {
  std::int64_t series = 0;
  std::int64_t start = 0;  ///< the place of the first one among all points of the series and segment
  std::vector<Point> points;
};
[[nodiscard]] std::string pack_tail(std::span<const TailGroup> groups);
[[nodiscard]] Result<std::vector<TailGroup>> unpack_tail(std::string_view data, std::size_t points);

[[nodiscard]] std::string pack_histogram(const Histogram& histogram);
/// Everything but series, step and time.
[[nodiscard]] Result<Histogram> unpack_histogram(std::string_view data);

}  // namespace osler::runfile
