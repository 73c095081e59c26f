// Reading one series: down the pyramid where a window's border cuts it, level by level where something is lost.
#include "runfile/series_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace osler::runfile {
namespace {

// A level with so many entries for each span asked for is fine enough; the entries are merged.
constexpr std::uint64_t kEntriesPerSpan = 32;

WindowSpan span_of(const Point& point) {
  const bool finite = std::isfinite(point.value);
  const double value = finite ? point.value : std::nan("");
  return {point.step, point.step, point.wall_time, value, value, value, 1, finite ? 0U : 1U};
}

WindowSpan span_of(const Node& node, std::size_t level) {
  return {node.first_step,
          node.last_step,
          to_seconds(node.time),
          node.min,
          node.max,
          node.mean,
          points_under(level),
          static_cast<std::uint64_t>(std::max<std::int64_t>(node.nonfinite, 0))};
}

}  // namespace

void merge_span(WindowSpan& whole, const WindowSpan& part) {
  const auto before = static_cast<double>(whole.points - whole.nonfinite);
  const auto weight = static_cast<double>(part.points - part.nonfinite);
  whole.last_step = std::max(whole.last_step, part.last_step);
  whole.min = std::fmin(whole.min, part.min);
  whole.max = std::fmax(whole.max, part.max);
  whole.points += part.points;
  whole.nonfinite += part.nonfinite;
  if (weight <= 0) return;
  whole.mean = before <= 0 ? part.mean : whole.mean + (part.mean - whole.mean) * (weight / (before + weight));
}

std::vector<WindowSpan> arranged(std::vector<WindowSpan> spans, std::size_t most) {
  const auto earlier = [](const WindowSpan& a, const WindowSpan& b) { return a.first_step < b.first_step; };
  if (!std::is_sorted(spans.begin(), spans.end(), earlier)) std::stable_sort(spans.begin(), spans.end(), earlier);
  std::vector<WindowSpan> distinct;
  for (WindowSpan& span : spans) {
    const bool same = !distinct.empty() && span.points == 1 && distinct.back().points == 1 &&
                      distinct.back().first_step == span.first_step;
    if (same) {
      distinct.back() = span;
    } else {
      distinct.push_back(span);
    }
  }
  const std::size_t group = (distinct.size() + most - 1) / most;
  if (group <= 1) return distinct;
  std::vector<WindowSpan> merged;
  for (std::size_t i = 0; i < distinct.size(); i += group) {
    WindowSpan whole = distinct[i];
    for (std::size_t j = i + 1; j < std::min(i + group, distinct.size()); ++j) merge_span(whole, distinct[j]);
    merged.push_back(whole);
  }
  return merged;
}

void SpanCollector::add(const WindowSpan& span) {
  if (count_ < joined_ && count_ > 0 && spans.back().last_step < span.first_step) {
    merge_span(spans.back(), span);
    ++count_;
  } else {
    spans.push_back(span);
    count_ = 1;
  }
}

bool SeriesReader::Collection::touches(std::int64_t first, std::int64_t last) const {
  return last >= request.first_step && first <= request.last_step && first < segment.cut;
}

bool SeriesReader::Collection::holds(std::int64_t first, std::int64_t last) const {
  return first >= request.first_step && last <= request.last_step && last < segment.cut;
}

Result<const std::vector<SeriesReader::ChunkPlace>*> SeriesReader::chunks(std::size_t level) {
  auto& places = places_[level];
  if (places) return &*places;
  auto rows = database_.prepare(
      "SELECT id, segment, start, entries, first_step, last_step FROM chunk WHERE series = ? AND level = ? "
      "ORDER BY segment, start");
  if (!rows) return rows.error();
  rows->bind(1, series_).bind(2, static_cast<std::int64_t>(level));
  std::vector<ChunkPlace> found;
  for (;;) {
    const auto more = rows->step();
    if (!more) return more.error();
    if (!*more) break;
    const ChunkPlace place{rows->integer(0), rows->integer(1), rows->integer(2),
                           rows->integer(3), rows->integer(4), rows->integer(5)};
    // What an index says is checked against the row when the chunk is loaded; here it must only be possible.
    constexpr std::int64_t kMostPlace = std::int64_t{1} << 40;
    const bool possible = place.start >= 0 && place.start < kMostPlace && place.entries > 0 &&
                          place.entries <= static_cast<std::int64_t>(kMostEntries);
    if (possible) found.push_back(place);
  }
  places = std::move(found);
  return &*places;
}

Result<std::optional<Row>> SeriesReader::fetch(std::optional<Statement>& select, Table table, std::int64_t id) {
  if (!select) {
    auto prepared = database_.prepare(selection(table, "WHERE id = ?"));
    if (!prepared) return prepared.error();
    select = std::move(*prepared);
  }
  select->bind(1, id);
  const auto found = select->step();
  if (!found) return found.error();
  std::optional<Row> sound;
  if (*found) {
    auto row = row_at(table, *select);
    if (row) sound = std::move(*row);
  }
  select->reset();
  return sound;
}

Result<std::optional<std::string>> SeriesReader::load_axis(std::int64_t id) {
  auto row = fetch(select_axis_, Table::axis, id);
  if (!row) return row.error();
  if (!*row) return std::optional<std::string>();
  return std::optional(std::move(std::get<std::string>((*row)->cells[0])));
}

Result<std::optional<SeriesReader::Blobs>> SeriesReader::load(const ChunkPlace& place, std::size_t level) {
  auto found = fetch(select_chunk_, Table::chunk, place.row);
  if (!found) return found.error();
  std::optional<Blobs> blobs;
  if (*found) {
    Row& row = **found;
    if (row.integer(0) == series_ && row.integer(1) == static_cast<std::int64_t>(level) &&
        row.integer(2) == place.segment && row.integer(3) == place.start && row.integer(4) == place.entries &&
        row.integer(5) == place.first_step && row.integer(6) == place.last_step) {
      auto axis = load_axis(row.integer(7));
      if (!axis) return axis.error();
      if (*axis) blobs = Blobs{std::move(**axis), std::move(std::get<std::string>(row.cells[8]))};
    }
  }
  if (!blobs && level == 0) {
    damage_.add(fmt::format("series '{}': {} points between steps {} and {} are damaged", name_, place.entries,
                            place.first_step, place.last_step));
  }
  return blobs;
}

void SeriesReader::missing(std::int64_t segment, Stretch stretch) {
  damage_.add(fmt::format("series '{}': points {} to {} of segment {} are missing", name_, stretch.from + 1, stretch.to,
                          segment));
}

Result<void> SeriesReader::collect_below(const Collection& to, std::size_t level, Stretch stretch) {
  if (stretch.from >= stretch.to) return {};
  if (level > 0) return collect(to, level - 1, stretch);
  missing(to.segment.id, stretch);
  return {};
}

Result<void> SeriesReader::collect(const Collection& to, std::size_t level, Stretch stretch) {
  const auto places = chunks(level);
  if (!places) return places.error();
  const auto under = static_cast<std::int64_t>(points_under(level));
  const auto own = std::partition_point((*places)->begin(), (*places)->end(), [&](const ChunkPlace& place) {
    return place.segment < to.segment.id ||
           (place.segment == to.segment.id && (place.start + place.entries) * under <= stretch.from);
  });
  std::int64_t at = stretch.from;
  for (auto place = own; place != (*places)->end() && place->segment == to.segment.id; ++place) {
    const std::int64_t begin = place->start * under;
    if (begin >= stretch.to) break;
    if (const auto below = collect_below(to, level, {at, begin}); !below) return below.error();
    const Stretch inside{std::max(at, begin), std::min(stretch.to, (place->start + place->entries) * under)};
    if (inside.from >= inside.to) continue;
    if (to.touches(place->first_step, place->last_step)) {
      if (const auto taken = collect_chunk(to, level, *place, inside); !taken) return taken.error();
    }
    at = inside.to;
  }
  return collect_below(to, level, {at, stretch.to});
}

Result<void> SeriesReader::collect_chunk(const Collection& to, std::size_t level, const ChunkPlace& place,
                                         Stretch stretch) {
  const auto blobs = load(place, level);
  if (!blobs) return blobs.error();
  const auto entries = static_cast<std::size_t>(place.entries);
  const auto under = static_cast<std::int64_t>(points_under(level));
  const auto from = static_cast<std::size_t>(stretch.from / under - place.start);
  const auto until = static_cast<std::size_t>(stretch.to / under - place.start);
  if (level == 0) {
    if (!*blobs) return {};
    if (!unpack_points((*blobs)->axis, (*blobs)->data, entries, points_)) return {};
    for (std::size_t i = from; i < until; ++i) {
      const Point& point = points_[i];
      if (to.holds(point.step, point.step)) to.spans->add(span_of(point));
    }
    return {};
  }
  const auto nodes = *blobs ? unpack_nodes((*blobs)->axis, (*blobs)->data, entries)
                            : Result<std::vector<Node>>(Error{ErrorCode::corrupt, {}, {}});
  if (!nodes) return collect_below(to, level, stretch);
  for (std::size_t i = from; i < until; ++i) {
    const Node& node = (*nodes)[i];
    if (to.holds(node.first_step, node.last_step)) {
      to.spans->add(span_of(node, level));
    } else if (to.touches(node.first_step, node.last_step)) {
      const std::int64_t begin = (place.start + static_cast<std::int64_t>(i)) * under;
      if (const auto below = collect_below(to, level, {begin, begin + under}); !below) return below.error();
    }
  }
  return {};
}

Result<std::int64_t> SeriesReader::packed_until(std::int64_t segment) {
  std::int64_t until = 0;
  for (std::size_t level = 0; level <= kMostLevel; ++level) {
    const auto places = chunks(level);
    if (!places) return places.error();
    const auto end = std::partition_point((*places)->begin(), (*places)->end(),
                                          [&](const ChunkPlace& place) { return place.segment <= segment; });
    if (end == (*places)->begin() || std::prev(end)->segment != segment) break;
    const auto under = static_cast<std::int64_t>(points_under(level));
    until = std::max(until, (std::prev(end)->start + std::prev(end)->entries) * under);
  }
  return until;
}

void SeriesReader::each_tail_point(std::int64_t segment, std::int64_t from,
                                   const std::function<void(const Point&)>& tell) const {
  if (tail_ == nullptr) return;
  for (const TailStretch& stretch : *tail_) {
    if (stretch.segment != segment) continue;
    std::int64_t at = stretch.start;
    for (const Point& point : stretch.points) {
      if (at++ >= from) tell(point);
    }
  }
}

Result<SeriesReader::Fineness> SeriesReader::fineness_for(const WindowRequest& request) {
  const auto places = chunks(0);
  if (!places) return places.error();
  std::uint64_t points = 0;
  for (const ChunkPlace& place : **places) {
    if (place.last_step >= request.first_step && place.first_step <= request.last_step) {
      points += static_cast<std::uint64_t>(place.entries);
    }
  }
  std::size_t level = 0;
  while (level < kMostLevel && points / points_under(level) > request.most_spans * kEntriesPerSpan) ++level;
  return Fineness{level, points / points_under(level)};
}

Result<std::vector<WindowSpan>> SeriesReader::spans(const std::vector<Segment>& segments,
                                                    const WindowRequest& request) {
  const auto fineness = fineness_for(request);
  if (!fineness) return fineness.error();
  // Some more than asked for stay: the window may have fewer entries than the chunks it touches.
  constexpr std::uint64_t kSpare = 4;
  SpanCollector found(std::max<std::uint64_t>(1, fineness->entries / (request.most_spans * kSpare)));
  for (const Segment& segment : segments) {
    const Collection to{segment, request, &found};
    const auto until = packed_until(segment.id);
    if (!until) return until.error();
    if (const auto collected = collect(to, fineness->level, {0, *until}); !collected) return collected.error();
    each_tail_point(segment.id, *until, [&](const Point& point) {
      if (to.holds(point.step, point.step)) found.add(span_of(point));
    });
  }
  return std::move(found.spans);
}

Result<bool> SeriesReader::next_points(const Segment& segment, Progress& progress, std::vector<Point>& points) {
  points.clear();
  const auto void_later = [&](const Point& point) { return point.step >= segment.cut; };
  // Who follows a growing file finds nearly all that is new here and need not look at the chunks.
  const bool in_tail = tail_ != nullptr && std::any_of(tail_->begin(), tail_->end(), [&](const TailStretch& stretch) {
                         return stretch.segment == segment.id && stretch.start <= progress.at;
                       });
  static const std::vector<ChunkPlace> none;
  const auto places = in_tail ? Result<const std::vector<ChunkPlace>*>(&none) : chunks(0);
  if (!places) return places.error();
  while (points.empty() && progress.place < (*places)->size()) {
    const ChunkPlace& place = (**places)[progress.place++];
    if (place.segment != segment.id || place.start + place.entries <= progress.at) continue;
    if (place.start > progress.at) missing(segment.id, {progress.at, place.start});
    const auto blobs = load(place, 0);
    if (!blobs) return blobs.error();
    const auto skip = static_cast<std::size_t>(std::max<std::int64_t>(progress.at - place.start, 0));
    progress.at = place.start + place.entries;
    if (!*blobs) continue;
    const auto unpacked =
        unpack_points((*blobs)->axis, (*blobs)->data, static_cast<std::size_t>(place.entries), points);
    if (!unpacked) points.clear();
    points.erase(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(std::min(skip, points.size())));
    points.erase(std::remove_if(points.begin(), points.end(), void_later), points.end());
  }
  if (points.empty() && !progress.tail_done) {
    progress.tail_done = true;
    const std::int64_t from = progress.at;
    each_tail_point(segment.id, from, [&](const Point& point) {
      ++progress.at;
      if (!void_later(point)) points.push_back(point);
    });
  }
  return !points.empty();
}

Result<SeriesInfo> SeriesReader::info() {
  SeriesInfo info{name_, 0, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  const auto places = chunks(0);
  if (!places) return places.error();
  for (const ChunkPlace& place : **places) {
    info.points += static_cast<std::uint64_t>(place.entries);
    info.first_step = std::min(info.first_step, place.first_step);
    info.last_step = std::max(info.last_step, place.last_step);
  }
  std::set<std::int64_t> segments;
  for (const TailStretch& stretch : tail_ != nullptr ? *tail_ : std::vector<TailStretch>{}) {
    segments.insert(stretch.segment);
  }
  for (const std::int64_t segment : segments) {
    const auto until = packed_until(segment);
    if (!until) return until.error();
    each_tail_point(segment, *until, [&](const Point& point) {
      ++info.points;
      info.first_step = std::min(info.first_step, point.step);
      info.last_step = std::max(info.last_step, point.step);
    });
  }
  return info;
}

}  // namespace osler::runfile
