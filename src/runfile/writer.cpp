// Writing run files: points wait in memory, one transaction a commit makes them stay.
#include "osler/runfile/writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runfile/chunk_store.h"
#include "runfile/open_series.h"
#include "runfile/rows.h"

namespace osler {

using namespace runfile;
namespace {

// Points of open chunks over all series (24 bytes each); with many series their chunks are shorter.
constexpr std::size_t kMostOpenPoints = 2'000'000;
constexpr std::size_t kFewestEntries = 256;
// Marks, histograms and the like that wait while writing fails.
constexpr std::size_t kMostWaitingRows = 100'000;

constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::min();

}  // namespace

class RunFileWriter::Work {
 public:
  Work(std::filesystem::path path, RunFileOptions options) : path_(std::move(path)), options_(std::move(options)) {}

  Result<void> start();
  SeriesId series(std::string_view name);
  void add(const Event& event);
  void add(const Mark& mark);
  void layers(std::span<const LayerInfo> layers);
  void wait(Table table, std::vector<Cell> cells) {
    waiting_.push_back({table, {++last_id_[table], std::move(cells)}});
  }
  Result<void> commit(bool pack);
  Result<void> close();

 private:
  struct WaitingRow {
    Table table;
    Row row;
  };

  Result<void> load();
  Result<void> recover_tail();
  Result<void> write_all(bool pack);
  Result<void> write_segment();
  Result<void> write_tail();
  Result<void> write_packed();
  Result<void> check_alone();
  void start_segment(std::int64_t first_step);
  void settle(bool packed);
  void shed();
  [[nodiscard]] std::size_t capacity() const;
  Error in_context(Error error) const {
    error.context = path_.string();
    return error;
  }

  std::filesystem::path path_;
  RunFileOptions options_;
  std::optional<Database> database_;
  std::optional<RowWriter> rows_;
  std::optional<ChunkStore> store_;
  std::int64_t foreign_changes_ = 0;

  std::unordered_map<std::string, SeriesId> ids_;
  std::vector<OpenSeries> open_;  // by series id
  std::vector<ClosedChunk> closed_;
  std::vector<SeriesId> touched_;   // with points since the last commit
  std::vector<SeriesId> unpacked_;  // with points since the last packing
  std::vector<bool> is_unpacked_;
  std::vector<WaitingRow> waiting_;
  std::map<Table, std::int64_t> last_id_;
  std::int64_t tail_points_ = 0;  // in the file
  std::uint64_t given_up_ = 0;
  std::optional<std::vector<LayerInfo>> layers_;

  std::int64_t segment_ = 0;
  bool segment_written_ = false;
  std::int64_t segment_step_ = kNoStep;  // told by a restart mark
  std::int64_t segment_low_ = std::numeric_limits<std::int64_t>::max();
  double segment_time_ = kNoTime;
  std::int64_t last_step_ = kNoStep;
  bool resumed_ = false;
};

Result<void> RunFileWriter::Work::start() {
  auto database = Database::open(path_, Database::Mode::write, options_.vfs);
  if (!database) return database.error();
  database_ = std::move(*database);
  const auto version = stored_version(*database_);
  if (!version) return in_context(version.error());
  if (const auto wal = database_->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"); !wal) {
    return in_context(wal.error());
  }
  if (const auto migrated = migrate(*database_); !migrated) return in_context(migrated.error());
  auto rows = RowWriter::open(*database_);
  if (!rows) return in_context(rows.error());
  rows_ = std::move(*rows);
  if (const auto loaded = load(); !loaded) return in_context(loaded.error());
  if (*version == 0) {
    wait(Table::meta, {std::string("name"), options_.name.empty() ? path_.stem().string() : options_.name});
  } else if (const auto recovered = recover_tail(); !recovered) {
    return in_context(recovered.error());
  }
  const auto changes = database_->ask("PRAGMA data_version");
  if (!changes) return in_context(changes.error());
  foreign_changes_ = *changes;
  return commit(false);
}

/// Takes up the ids, the series and the last segment of a file that is there already.
Result<void> RunFileWriter::Work::load() {
  for (const TableLayout& layout : table_layouts()) {
    const auto last = database_->ask(fmt::format("SELECT max(id) FROM {}", layout.name));
    if (!last) return last.error();
    last_id_[layout.table] = *last;
  }
  store_.emplace(last_id_[Table::chunk], last_id_[Table::axis]);
  segment_ = last_id_[Table::segment] + 1;
  resumed_ = segment_ > 1;
  auto names = database_->prepare(selection(Table::series, "ORDER BY id"));
  if (!names) return names.error();
  for (;;) {
    const auto more = names->step();
    if (!more) return more.error();
    if (!*more) break;
    const auto row = row_at(Table::series, *names);
    if (!row || row->id != static_cast<std::int64_t>(open_.size())) {
      return Error{ErrorCode::corrupt, "the run file is damaged: record into a new one", {}};
    }
    ids_.emplace(row->bytes(0), static_cast<SeriesId>(open_.size()));
    open_.emplace_back(row->id, segment_);
  }
  is_unpacked_.assign(open_.size(), false);
  const auto last = database_->ask("SELECT max(last_step) FROM chunk WHERE level = 0");
  if (!last) return last.error();
  const auto chunks = database_->ask("SELECT count(*) FROM (SELECT 1 FROM chunk LIMIT 1)");
  if (!chunks) return chunks.error();
  if (*chunks > 0) last_step_ = *last;
  return {};
}

/// A writer that died left its newest points unpacked; they become chunks of their own.
Result<void> RunFileWriter::Work::recover_tail() {
  std::map<std::pair<std::int64_t, std::int64_t>, OpenSeries> found;
  auto tail = database_->prepare(selection(Table::tail, "ORDER BY id"));
  if (!tail) return tail.error();
  for (;;) {
    const auto more = tail->step();
    if (!more) return more.error();
    if (!*more) break;
    const auto row = row_at(Table::tail, *tail);
    if (!row) continue;
    const auto groups = unpack_tail(row->bytes(2), static_cast<std::size_t>(row->integer(1)));
    if (!groups) continue;
    for (const TailGroup& group : *groups) {
      const auto key = std::pair(row->integer(0), group.series);
      auto place = found.find(key);
      if (place == found.end()) {
        const auto covered = database_->ask(
            fmt::format("SELECT max(start + entries) FROM chunk WHERE series = {} AND level = 0 AND segment = {}",
                        group.series, key.first));
        if (!covered) return covered.error();
        place = found.emplace(key, OpenSeries(group.series, key.first, *covered)).first;
      }
      std::int64_t at = group.start;
      for (const Point& point : group.points) {
        if (at++ != place->second.total()) continue;
        place->second.add(point, kMostEntries, closed_);
        last_step_ = std::max(last_step_, point.step);
      }
    }
  }
  tail_points_ = std::numeric_limits<std::int64_t>::max() / 2;  // to be cleared at once
  for (const auto& [key, series] : found) series.snapshot(closed_);
  return {};
}

SeriesId RunFileWriter::Work::series(std::string_view name) {
  const auto [known, fresh] = ids_.try_emplace(std::string(name), static_cast<SeriesId>(open_.size()));
  if (fresh) {
    open_.emplace_back(known->second, segment_);
    is_unpacked_.push_back(false);
    waiting_.push_back({Table::series, {known->second, {std::string(name)}}});
  }
  return known->second;
}

std::size_t RunFileWriter::Work::capacity() const {
  const std::size_t share = kMostOpenPoints / std::max<std::size_t>(open_.size(), 1);
  return std::clamp(share / kFanout * kFanout, kFewestEntries, kMostEntries);
}

void RunFileWriter::Work::add(const Event& event) {
  if (event.series >= open_.size()) return;
  OpenSeries& series = open_[event.series];
  if (series.total() == series.committed) touched_.push_back(event.series);
  if (!is_unpacked_[event.series]) {
    is_unpacked_[event.series] = true;
    unpacked_.push_back(event.series);
  }
  series.add({event.step, event.wall_time, event.value}, capacity(), closed_);
  if (!segment_written_) segment_low_ = std::min(segment_low_, event.step);
  if (std::isnan(segment_time_)) segment_time_ = event.wall_time;
  last_step_ = std::max(last_step_, event.step);
}

void RunFileWriter::Work::add(const Mark& mark) {
  wait(Table::mark, {static_cast<std::int64_t>(mark.kind), mark.step, to_micros(mark.wall_time), mark.text});
  const bool begun = segment_written_ || segment_low_ != std::numeric_limits<std::int64_t>::max();
  if (mark.kind == Mark::Kind::restart && begun) start_segment(mark.step);
}

void RunFileWriter::Work::start_segment(std::int64_t first_step) {
  if (!segment_written_) {
    wait(Table::segment, {segment_step_ != kNoStep ? segment_step_ : segment_low_, to_micros(segment_time_)});
  }
  for (std::size_t i = 0; i < open_.size(); ++i) {
    open_[i].snapshot(closed_);
    open_[i] = OpenSeries(static_cast<std::int64_t>(i), segment_ + 1);
  }
  touched_.clear();
  unpacked_.clear();
  is_unpacked_.assign(open_.size(), false);
  ++segment_;
  segment_written_ = false;
  segment_step_ = first_step;
  segment_low_ = std::numeric_limits<std::int64_t>::max();
  segment_time_ = kNoTime;
}

void RunFileWriter::Work::layers(std::span<const LayerInfo> layers) {
  layers_.emplace(layers.begin(), layers.end());
}

Result<void> RunFileWriter::Work::check_alone() {
  const auto changes = database_->ask("PRAGMA data_version");
  if (!changes) return changes.error();
  if (*changes == foreign_changes_) return {};
  return Error{ErrorCode::invalid_argument, "another program writes to this run file", {}};
}

Result<void> RunFileWriter::Work::write_segment() {
  const bool has_points = segment_low_ != std::numeric_limits<std::int64_t>::max();
  if (segment_written_ || !has_points) return {};
  const std::int64_t first = segment_step_ != kNoStep ? segment_step_ : segment_low_;
  Row row{segment_, {first, to_micros(segment_time_)}};
  if (const auto put = rows_->put(Table::segment, row); !put) return put.error();
  if (!resumed_) return {};
  const bool back = first <= last_step_ && segment_step_ == kNoStep && segment_low_ < last_step_;
  const Mark::Kind kind = back ? Mark::Kind::restart : Mark::Kind::note;
  const std::string text = fmt::format("recording was resumed at step {}", first);
  Row seam{++last_id_[Table::mark], {static_cast<std::int64_t>(kind), first, to_micros(segment_time_), text}};
  return rows_->put(Table::mark, seam);
}

Result<void> RunFileWriter::Work::write_tail() {
  std::vector<TailGroup> groups;
  std::int64_t points = 0;
  for (const SeriesId id : touched_) {
    const OpenSeries& series = open_[id];
    const std::int64_t from = std::max(series.committed, series.start());
    const auto skip = static_cast<std::ptrdiff_t>(from - series.start());
    TailGroup group{static_cast<std::int64_t>(id), from, {series.points().begin() + skip, series.points().end()}};
    points += static_cast<std::int64_t>(group.points.size());
    if (!group.points.empty()) groups.push_back(std::move(group));
  }
  if (groups.empty()) return {};
  Row row{++last_id_[Table::tail], {segment_, points, pack_tail(groups)}};
  if (const auto put = rows_->put(Table::tail, row); !put) return put.error();
  tail_points_ += points;
  return {};
}

Result<void> RunFileWriter::Work::write_packed() {
  for (const SeriesId id : unpacked_) {
    std::vector<ClosedChunk> chunks;
    open_[id].snapshot(chunks);
    for (const ClosedChunk& chunk : chunks) {
      const auto row = store_->put(*database_, *rows_, chunk, true);
      if (!row) return row.error();
      open_[id].placed(chunk.level, *row);
    }
  }
  return database_->execute("DELETE FROM tail");
}

Result<void> RunFileWriter::Work::write_all(bool pack) {
  if (const auto alone = check_alone(); !alone) return alone.error();
  for (const WaitingRow& waiting : waiting_) {
    if (const auto put = rows_->put(waiting.table, waiting.row); !put) return put.error();
  }
  if (layers_) {
    if (const auto gone = database_->execute("DELETE FROM layer"); !gone) return gone.error();
    std::int64_t number = 0;
    for (const LayerInfo& layer : *layers_) {
      Row row{++number,
              {layer.name, layer.type, fmt::format("{}", fmt::join(layer.shape, "x")),
               static_cast<std::int64_t>(layer.parameters)}};
      if (const auto put = rows_->put(Table::layer, row); !put) return put.error();
    }
  }
  if (given_up_ > 0) {
    Row row{++last_id_[Table::mark],
            {static_cast<std::int64_t>(Mark::Kind::note), last_step_, to_micros(kNoTime),
             fmt::format("{} values were given up while the file could not be written", given_up_)}};
    if (const auto put = rows_->put(Table::mark, row); !put) return put.error();
  }
  if (const auto segment = write_segment(); !segment) return segment.error();
  for (const ClosedChunk& chunk : closed_) {
    const auto row = store_->put(*database_, *rows_, chunk, false);
    if (!row) return row.error();
  }
  return pack ? write_packed() : write_tail();
}

void RunFileWriter::Work::settle(bool packed) {
  waiting_.clear();
  layers_.reset();
  closed_.clear();
  given_up_ = 0;
  for (const SeriesId id : touched_) open_[id].committed = open_[id].total();
  touched_.clear();
  const bool has_points = segment_low_ != std::numeric_limits<std::int64_t>::max();
  if (has_points && !segment_written_) {
    segment_written_ = true;
    resumed_ = false;
  }
  if (!packed) return;
  for (const SeriesId id : unpacked_) is_unpacked_[id] = false;
  unpacked_.clear();
  tail_points_ = 0;
}

Result<void> RunFileWriter::Work::commit(bool pack) {
  if (!database_) return {};
  const std::int64_t tail_before = tail_points_;
  pack = (pack && tail_points_ + static_cast<std::int64_t>(unpacked_.size()) > 0) ||
         tail_points_ >= options_.most_unpacked;
  if (waiting_.empty() && !layers_ && touched_.empty() && closed_.empty() && !pack) return {};
  auto done = database_->execute("BEGIN IMMEDIATE");
  if (done) done = write_all(pack);
  if (done) done = database_->execute("COMMIT");
  if (done) {
    settle(pack);
    return {};
  }
  // Where SQLite has rolled back by itself there is nothing left to do.
  static_cast<void>(database_->execute("ROLLBACK"));
  store_->forget();
  tail_points_ = tail_before;
  shed();
  return in_context(done.error());
}

/// Keeps memory bounded while nothing can be written: the oldest go first.
void RunFileWriter::Work::shed() {
  std::size_t points = 0;
  for (const ClosedChunk& chunk : closed_) points += chunk.level == 0 ? chunk.entries : 0;
  std::size_t drop = 0;
  while (points > options_.most_unsaved && drop < closed_.size()) {
    const ClosedChunk& chunk = closed_[drop++];
    if (chunk.level != 0) continue;
    points -= chunk.entries;
    given_up_ += chunk.entries;
  }
  closed_.erase(closed_.begin(), closed_.begin() + static_cast<std::ptrdiff_t>(drop));
  if (waiting_.size() > kMostWaitingRows) {
    std::erase_if(waiting_, [](const WaitingRow& row) { return row.table == Table::histogram; });
  }
}

Result<void> RunFileWriter::Work::close() {
  if (!database_) return {};
  auto committed = commit(true);
  rows_.reset();
  const auto closed = database_->close();
  database_.reset();
  if (committed && !closed) return in_context(closed.error());
  return committed;
}

RunFileWriter::RunFileWriter(std::unique_ptr<Work> work) : work_(std::move(work)) {}
RunFileWriter::RunFileWriter(RunFileWriter&&) noexcept = default;
RunFileWriter& RunFileWriter::operator=(RunFileWriter&&) noexcept = default;
RunFileWriter::~RunFileWriter() {
  if (work_) static_cast<void>(work_->close());
}

Result<RunFileWriter> RunFileWriter::open(const std::filesystem::path& path, const RunFileOptions& options) {
  auto work = std::make_unique<Work>(path, options);
  if (const auto started = work->start(); !started) return started.error();
  return RunFileWriter(std::move(work));
}

SeriesId RunFileWriter::series(std::string_view name) {
  return work_->series(name);
}
void RunFileWriter::add(const Event& event) {
  work_->add(event);
}
void RunFileWriter::add(Mark mark) {
  work_->add(mark);
}
void RunFileWriter::config(std::string_view key, std::string_view value) {
  work_->wait(Table::config, {std::string(key), std::string(value)});
}
void RunFileWriter::distribution(const Histogram& histogram) {
  work_->wait(Table::histogram, {static_cast<std::int64_t>(histogram.series), histogram.step,
                                 to_micros(histogram.wall_time), pack_histogram(histogram)});
}
void RunFileWriter::layers(std::span<const LayerInfo> layers) {
  work_->layers(layers);
}
void RunFileWriter::report(std::int64_t step, double wall_time, std::string_view json) {
  work_->wait(Table::report, {step, to_micros(wall_time), std::string(json)});
}
Result<void> RunFileWriter::commit() {
  return work_->commit(false);
}
Result<void> RunFileWriter::close() {
  return work_->close();
}

}  // namespace osler
