// FINAL makes rows with one key one row, whether the server has merged them yet or not.
#include "store/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "store/bytes.h"
#include "store/fields.h"

namespace osler::store {
namespace {

constexpr std::uint64_t kPointsAtOnce = 1'000'000;

struct NumberedMark {
  std::uint64_t number = 0;
  Mark mark;
};

Error cut_off() {
  return {ErrorCode::corrupt, "the store's answer ends in the middle of a row", {}};
}

/// One stream of a run on its way to a sink.
class StreamReading {
 public:
  StreamReading(Client& client, std::uint64_t run, std::uint64_t stream, EventSink& sink)
      : client_(client), where_(fmt::format("run = {} AND stream = {}", run, stream)), sink_(sink) {}

  Result<void> read() {
    for (auto part : {&StreamReading::read_series, &StreamReading::read_config, &StreamReading::read_marks,
                      &StreamReading::read_points, &StreamReading::read_histograms}) {
      if (auto done = (this->*part)(); !done) return done;
    }
    return {};
  }

 private:
  Result<void> read_series() {
    const auto rows =
        client_.rows(fmt::format("SELECT series, name FROM series FINAL WHERE {} ORDER BY position", where_));
    if (!rows) return rows.error();
    for (const auto& row : *rows) ids_[to_u64(row.at(0))] = sink_.series(row.at(1));
    return {};
  }

  Result<void> read_config() {
    const auto rows =
        client_.rows(fmt::format("SELECT key, value FROM config FINAL WHERE {} ORDER BY number, key", where_));
    if (!rows) return rows.error();
    for (const auto& row : *rows) sink_.config(row.at(0), row.at(1));
    return {};
  }

  Result<void> read_marks() {
    const auto rows = client_.rows(fmt::format(
        "SELECT number, step, kind, time, text FROM marks FINAL WHERE {} ORDER BY number, step, kind, text", where_));
    if (!rows) return rows.error();
    for (const auto& row : *rows) {
      const auto kind = static_cast<Mark::Kind>(std::min<std::uint64_t>(to_u64(row.at(2)), 3));
      marks_.push_back({to_u64(row.at(0)), Mark{kind, to_i64(row.at(1)), to_f64(row.at(3)), row.at(4)}});
    }
    return {};
  }

  /// In stretches of numbers, so that an answer stays small.
  Result<void> read_points() {
    const auto extent =
        client_.rows(fmt::format("SELECT count(), min(number), max(number) FROM points WHERE {}", where_));
    if (!extent) return extent.error();
    if (extent->empty()) return cut_off();
    const Row& row = extent->front();
    const std::uint64_t count = to_u64(row.at(0));
    const std::uint64_t first = to_u64(row.at(1));
    const std::uint64_t last = to_u64(row.at(2));
    const std::uint64_t stretch = std::max<std::uint64_t>((last - first) / (count / kPointsAtOnce + 1), 1);
    for (std::uint64_t from = first; count > 0; from += stretch + 1) {
      const std::uint64_t to = last - from <= stretch ? last : from + stretch;
      if (auto read = read_stretch(from, to); !read) return read;
      if (to == last) break;
    }
    tell_marks(std::numeric_limits<std::uint64_t>::max());
    return {};
  }

  Result<void> read_stretch(std::uint64_t from, std::uint64_t to) {
    const auto answer = client_.ask(
        fmt::format("SELECT series, number, step, time, value FROM points FINAL WHERE {} AND number >= {} AND number "
                    "<= {} ORDER BY number, step, series FORMAT RowBinary",
                    where_, from, to));
    if (!answer) return answer.error();
    for (Bytes bytes(*answer); !bytes.empty();) {
      const auto known = ids_.find(bytes.fixed<std::uint64_t>());
      const auto number = bytes.fixed<std::uint64_t>();
      Event event;
      event.step = bytes.fixed<std::int64_t>();
      event.wall_time = bytes.fixed<double>();
      event.value = bytes.fixed<double>();
      if (bytes.broken()) return cut_off();
      tell_marks(number);
      if (known == ids_.end()) continue;
      event.series = known->second;
      sink_.add(event);
    }
    return {};
  }

  /// Those that came before the event with that number.
  void tell_marks(std::uint64_t number) {
    for (; next_mark_ < marks_.size() && marks_[next_mark_].number <= number; ++next_mark_) {
      sink_.add(std::move(marks_[next_mark_].mark));
    }
  }

  Result<void> read_histograms() {
    const auto answer = client_.ask(
        fmt::format("SELECT series, step, time, least, most, count, sum, sum_squares, limits, counts FROM histograms "
                    "FINAL WHERE {} ORDER BY number, step, series FORMAT RowBinary",
                    where_));
    if (!answer) return answer.error();
    for (Bytes bytes(*answer); !bytes.empty();) {
      const auto known = ids_.find(bytes.fixed<std::uint64_t>());
      Histogram histogram;
      histogram.step = bytes.fixed<std::int64_t>();
      for (double* figure : {&histogram.wall_time, &histogram.min, &histogram.max, &histogram.count, &histogram.sum,
                             &histogram.sum_squares}) {
        *figure = bytes.fixed<double>();
      }
      histogram.limits = bytes.list();
      histogram.counts = bytes.list();
      if (bytes.broken()) return cut_off();
      if (known == ids_.end()) continue;
      histogram.series = known->second;
      sink_.distribution(histogram);
    }
    return {};
  }

  Client& client_;
  std::string where_;
  EventSink& sink_;
  std::unordered_map<std::uint64_t, SeriesId> ids_;
  std::vector<NumberedMark> marks_;
  std::size_t next_mark_ = 0;
};

}  // namespace

Result<std::vector<StoredStream>> streams_of(Client& client, std::uint64_t run) {
  const auto rows = client.rows(fmt::format(
      "SELECT stream, path, generation, position, inode, format, void FROM streams FINAL WHERE run = {}", run));
  if (!rows) return rows.error();
  std::vector<StoredStream> streams;
  for (const auto& row : *rows) {
    streams.push_back({to_u64(row.at(0)), row.at(1), static_cast<std::uint32_t>(to_u64(row.at(2))),
                       static_cast<std::uint32_t>(to_u64(row.at(3))), to_u64(row.at(4)), row.at(5), row.at(6) != "0"});
  }
  std::sort(streams.begin(), streams.end(), [](const StoredStream& a, const StoredStream& b) {
    return std::tie(a.position, a.path, a.generation) < std::tie(b.position, b.path, b.generation);
  });
  return streams;
}

Result<void> read_streams(Client& client, std::uint64_t run, const std::vector<StoredStream>& streams,
                          EventSink& sink) {
  for (const StoredStream& stream : streams) {
    if (stream.is_void) continue;
    if (auto read = StreamReading(client, run, stream.id, sink).read(); !read) return read;
  }
  return {};
}

}  // namespace osler::store
