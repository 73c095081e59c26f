// Packing and unpacking chunks.
#include "runfile/chunk.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runfile/columns.h"

namespace osler::runfile {
namespace {

constexpr std::int64_t kNoMicros = std::numeric_limits<std::int64_t>::min();

Error corrupt(const char* what) {
  return {ErrorCode::corrupt, what, {}};
}

/// Collects columns out of a sequence of structures.
template <typename Item, typename Get>
void append_integer_column(std::span<const Item> items, Get&& get, std::string& bytes) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(items.size());
  for (const Item& item : items) numbers.push_back(get(item));
  append_integers(numbers, bytes);
}
template <typename Item, typename Get>
void append_value_column(std::span<const Item> items, Get&& get, std::string& bytes) {
  std::vector<double> values;
  values.reserve(items.size());
  for (const Item& item : items) values.push_back(get(item));
  append_values(values, bytes);
}

}  // namespace

std::int64_t to_micros(double seconds) {
  constexpr double kLargest = 9e12;  // the year 287,000
  if (!(std::abs(seconds) < kLargest)) return kNoMicros;
  return std::llround(seconds * 1e6);
}

double to_seconds(std::int64_t micros) {
  return micros == kNoMicros ? kNoTime : static_cast<double>(micros) / 1e6;
}

Node node_of(std::span<const Point> points) {
  Node node{points[0].step, points[0].step, to_micros(points[0].wall_time), std::nan(""), std::nan(""), 0, 0};
  double count = 0;
  for (const Point& point : points) {
    node.first_step = std::min(node.first_step, point.step);
    node.last_step = std::max(node.last_step, point.step);
    if (!std::isfinite(point.value)) {
      ++node.nonfinite;
      continue;
    }
    node.min = std::fmin(node.min, point.value);
    node.max = std::fmax(node.max, point.value);
    count += 1;
    node.mean += (point.value - node.mean) / count;
  }
  // The mean is drawn, not calculated with: half the bytes will do.
  node.mean = count > 0 ? static_cast<float>(node.mean) : std::nan("");
  return node;
}

Node node_of(std::span<const Node> nodes, std::uint64_t points_each) {
  Node node = nodes[0];
  double count = 0;
  double mean = 0;
  node.nonfinite = 0;
  for (const Node& part : nodes) {
    node.first_step = std::min(node.first_step, part.first_step);
    node.last_step = std::max(node.last_step, part.last_step);
    node.min = std::fmin(node.min, part.min);
    node.max = std::fmax(node.max, part.max);
    node.nonfinite += part.nonfinite;
    const double weight = static_cast<double>(points_each) - static_cast<double>(part.nonfinite);
    if (weight <= 0) continue;
    count += weight;
    mean += (part.mean - mean) * (weight / count);
  }
  node.mean = count > 0 ? static_cast<float>(mean) : std::nan("");
  return node;
}

PackedChunk pack(std::span<const Point> points) {
  PackedChunk chunk;
  append_integer_column(
      points, [](const Point& p) { return p.step; }, chunk.axis);
  append_integer_column(
      points, [](const Point& p) { return to_micros(p.wall_time); }, chunk.axis);
  append_value_column(
      points, [](const Point& p) { return p.value; }, chunk.data);
  return chunk;
}

PackedChunk pack(std::span<const Node> nodes) {
  PackedChunk chunk;
  append_integer_column(
      nodes, [](const Node& n) { return n.first_step; }, chunk.axis);
  append_integer_column(
      nodes, [](const Node& n) { return n.last_step; }, chunk.axis);
  append_integer_column(
      nodes, [](const Node& n) { return n.time; }, chunk.axis);
  append_value_column(
      nodes, [](const Node& n) { return n.min; }, chunk.data);
  append_value_column(
      nodes, [](const Node& n) { return n.max; }, chunk.data);
  append_value_column(
      nodes, [](const Node& n) { return n.mean; }, chunk.data);
  append_integer_column(
      nodes, [](const Node& n) { return n.nonfinite; }, chunk.data);
  return chunk;
}

Result<void> unpack_points(std::string_view axis, std::string_view data, std::size_t entries,
                           std::vector<Point>& points) {
  ColumnReader axes(axis);
  ColumnReader rest(data);
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> times;
  std::vector<double> values;
  if (!axes.integers(entries, steps) || !axes.integers(entries, times) || !rest.values(entries, values) ||
      !axes.done() || !rest.done()) {
    return corrupt("a chunk of points does not unpack");
  }
  points.resize(entries);
  for (std::size_t i = 0; i < entries; ++i) points[i] = {steps[i], to_seconds(times[i]), values[i]};
  return {};
}

Result<std::vector<Node>> unpack_nodes(std::string_view axis, std::string_view data, std::size_t entries) {
  ColumnReader axes(axis);
  ColumnReader rest(data);
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> last;
  std::vector<std::int64_t> times;
  std::vector<double> min;
  std::vector<double> max;
  std::vector<double> mean;
  std::vector<std::int64_t> nonfinite;
  if (!axes.integers(entries, first) || !axes.integers(entries, last) || !axes.integers(entries, times) ||
      !rest.values(entries, min) || !rest.values(entries, max) || !rest.values(entries, mean) ||
      !rest.integers(entries, nonfinite) || !axes.done() || !rest.done()) {
    return corrupt("a chunk of nodes does not unpack");
  }
  std::vector<Node> nodes(entries);
  for (std::size_t i = 0; i < entries; ++i) {
    nodes[i] = {first[i], last[i], times[i], min[i], max[i], mean[i], nonfinite[i]};
  }
  return nodes;
}

std::string pack_tail(std::span<const TailGroup> groups) {
  std::string bytes;
  std::vector<Point> points;
  append_varint(groups.size(), bytes);
  for (const TailGroup& group : groups) points.insert(points.end(), group.points.begin(), group.points.end());
  append_integer_column(
      groups, [](const TailGroup& g) { return g.series; }, bytes);
  append_integer_column(
      groups, [](const TailGroup& g) { return g.start; }, bytes);
  append_integer_column(
      groups, [](const TailGroup& g) { return static_cast<std::int64_t>(g.points.size()); }, bytes);
  const PackedChunk all = pack(points);
  append_varint(all.axis.size(), bytes);
  return bytes + all.axis + all.data;
}

Result<std::vector<TailGroup>> unpack_tail(std::string_view data, std::size_t points) {
  const Error damaged = corrupt("a row of newest points does not unpack");
  std::uint64_t count = 0;
  if (!take_varint(data, count) || count > points) return damaged;
  ColumnReader columns(data);
  std::vector<std::int64_t> series;
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> sizes;
  const auto groups = static_cast<std::size_t>(count);
  if (!columns.integers(groups, series) || !columns.integers(groups, starts) || !columns.integers(groups, sizes)) {
    return damaged;
  }
  std::string_view rest = columns.rest();
  std::uint64_t axis_bytes = 0;
  if (!take_varint(rest, axis_bytes) || axis_bytes > rest.size()) return damaged;
  const auto split = static_cast<std::size_t>(axis_bytes);
  std::vector<Point> all;
  if (!unpack_points(rest.substr(0, split), rest.substr(split), points, all)) return damaged;
  std::vector<TailGroup> found(groups);
  std::size_t used = 0;
  for (std::size_t i = 0; i < groups; ++i) {
    if (sizes[i] < 0 || static_cast<std::uint64_t>(sizes[i]) > points - used) return damaged;
    const auto size = static_cast<std::size_t>(sizes[i]);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(used);
    found[i] = {series[i], starts[i], {first, first + static_cast<std::ptrdiff_t>(size)}};
    used += size;
  }
  if (used != points) return damaged;
  return found;
}

std::string pack_histogram(const Histogram& histogram) {
  std::string bytes;
  const double figures[] = {histogram.min, histogram.max, histogram.count, histogram.sum, histogram.sum_squares};
  const std::size_t bins = std::min(histogram.limits.size(), histogram.counts.size());
  append_varint(bins, bytes);
  append_values(figures, bytes);
  append_values(std::span(histogram.limits).first(bins), bytes);
  append_values(std::span(histogram.counts).first(bins), bytes);
  return bytes;
}

Result<Histogram> unpack_histogram(std::string_view data) {
  constexpr std::uint64_t kMostBins = 1'000'000;
  std::uint64_t bins = 0;
  if (!take_varint(data, bins) || bins > kMostBins) return corrupt("a histogram does not unpack");
  ColumnReader columns(data);
  std::vector<double> figures;
  Histogram histogram;
  if (!columns.values(5, figures) || !columns.values(static_cast<std::size_t>(bins), histogram.limits) ||
      !columns.values(static_cast<std::size_t>(bins), histogram.counts) || !columns.done()) {
    return corrupt("a histogram does not unpack");
  }
  histogram.min = figures[0];
  histogram.max = figures[1];
  histogram.count = figures[2];
  histogram.sum = figures[3];
  histogram.sum_squares = figures[4];
  return histogram;
}

}  // namespace osler::runfile
