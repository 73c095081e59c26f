// SeriesReader: one series of a run file, by chunks and levels.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "osler/base/damage.h"
#include "osler/runfile/reader.h"
#include "runfile/chunk.h"
#include "runfile/rows.h"

namespace osler::runfile {

/// Points that are in no chunk yet.
struct TailStretch {
  std::int64_t segment = 0;
  std::int64_t start = 0;
  std::vector<Point> points;
};

/// Which steps of a segment count: those before the first step of any later segment.
struct Segment {
  std::int64_t id = 0;
  std::int64_t first_step = 0;
  std::int64_t cut = std::numeric_limits<std::int64_t>::max();
};

/// Collects damage and tells each place once.
class DamageLog {
 public:
  explicit DamageLog(std::string source) : source_(std::move(source)) {}
  void add(const std::string& what) {
    if (told_.insert(what).second) report.add({source_, 0, 0, what, 0});
  }
  DamageReport report;

 private:
  std::string source_;
  std::set<std::string> told_;
};

/// Joins a span to the one before it.
void merge_span(WindowSpan& whole, const WindowSpan& part);

/// Spans in rising order; of exact points at one step the later wins; neighbours merged until they are few enough.
std::vector<WindowSpan> arranged(std::vector<WindowSpan> spans, std::size_t most);

/// Collects spans and joins neighbours as they come, so that a wide window does not fill memory first.
class SpanCollector {
 public:
  explicit SpanCollector(std::uint64_t joined) : joined_(joined) {}
  void add(const WindowSpan& span);
  std::vector<WindowSpan> spans;

 private:
  std::uint64_t joined_;     // so many become one
  std::uint64_t count_ = 0;  // in the newest
};

/// Reads one series within one snapshot of the file. An error means that SQLite cannot go on; damage that can be
/// stepped over goes into the log.
class SeriesReader {
 public:
  SeriesReader(Database& database, std::int64_t series, std::string name, const std::vector<TailStretch>* tail,
               DamageLog& damage)
      : database_(database), series_(series), name_(std::move(name)), tail_(tail), damage_(damage) {}

  /// Count, first and last step over all segments, void points included.
  [[nodiscard]] Result<SeriesInfo> info();
  /// Spans in the order of segments and arrival, of a level at which they are not much more than `most_spans`.
  [[nodiscard]] Result<std::vector<WindowSpan>> spans(const std::vector<Segment>& segments,
                                                      const WindowRequest& request);
  /// How far the points of a segment have been read.
  struct Progress {
    std::size_t place = 0;  // of the next chunk
    std::int64_t at = 0;    // points passed so far
    bool tail_done = false;
  };
  /// The next points of a segment that count, in order of arrival, a chunk at a time; false at the end.
  [[nodiscard]] Result<bool> next_points(const Segment& segment, Progress& progress, std::vector<Point>& points);

 private:
  struct ChunkPlace {
    std::int64_t row = 0;
    std::int64_t segment = 0;
    std::int64_t start = 0;
    std::int64_t entries = 0;
    std::int64_t first_step = 0;
    std::int64_t last_step = 0;
  };
  /// A stretch of points of a segment by their places.
  struct Stretch {
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  struct Collection {
    Segment segment;
    WindowRequest request;
    SpanCollector* spans = nullptr;
    [[nodiscard]] bool touches(std::int64_t first, std::int64_t last) const;
    [[nodiscard]] bool holds(std::int64_t first, std::int64_t last) const;
  };
  struct Blobs {
    std::string axis;
    std::string data;
  };

  [[nodiscard]] Result<const std::vector<ChunkPlace>*> chunks(std::size_t level);
  /// The bytes of a chunk; nothing, and a word in the log, when it is damaged.
  [[nodiscard]] Result<std::optional<Blobs>> load(const ChunkPlace& place, std::size_t level);
  [[nodiscard]] Result<std::optional<std::string>> load_axis(std::int64_t id);
  /// The row of a table with that id; nothing when there is none that is sound.
  [[nodiscard]] Result<std::optional<Row>> fetch(std::optional<Statement>& select, Table table, std::int64_t id);
  [[nodiscard]] Result<void> collect(const Collection& to, std::size_t level, Stretch stretch);
  [[nodiscard]] Result<void> collect_below(const Collection& to, std::size_t level, Stretch stretch);
  [[nodiscard]] Result<void> collect_chunk(const Collection& to, std::size_t level, const ChunkPlace& place,
                                           Stretch stretch);
  [[nodiscard]] Result<std::int64_t> packed_until(std::int64_t segment);
  /// The level to read a window from, and about how many entries it has there.
  struct Fineness {
    std::size_t level = 0;
    std::uint64_t entries = 0;
  };
  [[nodiscard]] Result<Fineness> fineness_for(const WindowRequest& request);
  void each_tail_point(std::int64_t segment, std::int64_t from, const std::function<void(const Point&)>& tell) const;
  void missing(std::int64_t segment, Stretch stretch);

  Database& database_;
  std::int64_t series_;
  std::string name_;
  const std::vector<TailStretch>* tail_;
  DamageLog& damage_;
  std::array<std::optional<std::vector<ChunkPlace>>, kMostLevel + 1> places_;
  std::vector<Point> points_;              // of the newest chunk that was collected
  std::optional<Statement> select_chunk_;  // prepared once for all chunks
  std::optional<Statement> select_axis_;
};

}  // namespace osler::runfile
