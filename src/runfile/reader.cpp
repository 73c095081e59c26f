// Reading run files.
#include "osler/runfile/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>

#include "runfile/salvage.h"
#include "runfile/series_reader.h"

namespace osler {

using namespace runfile;
namespace {

// Series that are told step by step together; each keeps a chunk in memory meanwhile.
constexpr std::size_t kMergedSeries = 256;

std::vector<std::int64_t> shape_of(std::string_view text) {
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc()) break;
    shape.push_back(size);
    text.remove_prefix(std::min<std::size_t>(static_cast<std::size_t>(end - text.data()) + 1, text.size()));
  }
  return shape;
}

}  // namespace

bool is_run_file(std::string_view head) {
  static constexpr char kOpening[] = "SQLite format 3";
  constexpr std::string_view kMagic(kOpening, sizeof kOpening);  // with its zero byte
  constexpr std::size_t kIdAt = 68;
  if (head.size() < kRunFileHeadBytes || head.substr(0, kMagic.size()) != kMagic) return false;
  std::int64_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) id = id << 8 | static_cast<unsigned char>(head[kIdAt + i]);
  return id == kApplicationId;
}

class RunFileReader::Work {
 public:
  explicit Work(std::filesystem::path path) : path_(std::move(path)), damage_(path_.string()) {}
  ~Work() {
    database_.reset();
    if (was_closed_) remove_empty_log(path_);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  Result<void> open();
  Result<bool> refresh();
  /// Does `task`; when SQLite finds the file damaged meanwhile, once more on what can be salvaged of it.
  template <typename T>
  Result<T> attempt(const std::function<Result<T>()>& task);
  Result<void> scan(Table table, std::string_view where, const std::function<void(const Row&)>& tell);
  Result<std::vector<std::int64_t>> series_with_points();
  SeriesReader series(std::int64_t id) {
    const auto tail = tail_.find(id);
    return {*database_, id, name_of(id), tail == tail_.end() ? nullptr : &tail->second, damage_};
  }
  std::optional<std::int64_t> find(std::string_view name) const;
  std::string name_of(std::int64_t id) const {
    const auto known = names_.find(id);
    return known != names_.end() ? known->second : fmt::format("series {} (its name is lost)", id);
  }
  Result<std::vector<Histogram>> histograms(std::int64_t series, const WindowRequest& request);
  /// What a sink has been told already.
  struct Told {
    std::int64_t segment = 0;  ///< the newest; those before it are complete
    std::int64_t marks = 0;
    std::int64_t histograms = 0;  ///< the row of the newest
    std::map<std::string, std::string, std::less<>> config;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> points;  ///< by segment and series
  };
  /// Tells what is new to `sink`; whether there was anything.
  Result<bool> tell(EventSink& sink, Told& told);
  Result<bool> tell_series(EventSink& sink, Told& told);
  Result<bool> merge_series(const Segment& segment, std::span<const std::int64_t> series_ids,
                            const std::map<std::int64_t, SeriesId>& ids, EventSink& sink, Told& told);
  Result<bool> tell_histograms(EventSink& sink, Told& told);
  Result<std::vector<Mark>> marks();
  Result<std::map<std::string, std::string, std::less<>>> configuration();
  Result<void> check_index();
  /// Looks at everything that could turn out to need salvage, before the first event is told.
  Result<void> look_over();

  std::filesystem::path path_;
  std::string name_;
  std::optional<Database> database_;
  std::map<std::int64_t, std::string> names_;
  std::vector<Segment> segments_;
  std::unordered_map<std::int64_t, std::vector<TailStretch>> tail_;
  DamageLog damage_;
  Told told_;           ///< by `read_new`
  bool unread_ = true;  ///< `read_new` was not called yet

 private:
  Result<void> open_database();
  Result<void> load();
  Result<void> turn_to_salvage();

  bool salvaged_ = false;
  bool was_closed_ = false;  // nobody had the file open to write: a log beside it would be of our own making
};

Result<void> RunFileReader::Work::open() {
  std::string head(kRunFileHeadBytes, '\0');
  std::ifstream file(path_, std::ios::binary);
  if (!file) return Error{ErrorCode::not_found, "cannot be opened", path_.string()};
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  file.close();
  if (!is_run_file(head) && path_.extension() != kRunFileExtension) {
    return Error{ErrorCode::invalid_argument, "this is no run file", path_.string()};
  }
  auto opened = open_database();
  if (opened) opened = load();
  if (!opened && opened.error().code == ErrorCode::corrupt) return turn_to_salvage();
  if (!opened) {
    Error error = opened.error();
    error.context = path_.string();
    return error;
  }
  return {};
}

Result<void> RunFileReader::Work::open_database() {
  Error first;
  std::error_code failed;
  was_closed_ = !std::filesystem::exists(log_beside(path_), failed) && !failed;
  // A folder that cannot be written to has no room for SQLite's shared memory; then nobody writes the file either.
  for (const auto mode : {Database::Mode::read, Database::Mode::read_unlocked}) {
    auto database = Database::open(path_, mode);
    if (!database) return database.error();
    const auto version = stored_version(*database);
    if (version && *version == 0) return Error{ErrorCode::corrupt, "the run file is empty", {}};
    if (version) {
      database_ = std::move(*database);
      return database_->execute("BEGIN");
    }
    if (mode == Database::Mode::read) first = version.error();
    if (first.code != ErrorCode::io) break;
  }
  return first;
}

Result<void> RunFileReader::Work::turn_to_salvage() {
  if (salvaged_) return Error{ErrorCode::internal, "what was salvaged cannot be read", path_.string()};
  database_.reset();
  salvaged_ = true;
  auto found = salvage(path_, damage_.report);
  if (!found) return found.error();
  database_ = std::move(*found);
  return load();
}

template <typename T>
Result<T> RunFileReader::Work::attempt(const std::function<Result<T>()>& task) {
  auto result = task();
  if (result || result.error().code != ErrorCode::corrupt || salvaged_) return result;
  if (const auto turned = turn_to_salvage(); !turned) return turned.error();
  return task();
}

Result<void> RunFileReader::Work::scan(Table table, std::string_view where,
                                       const std::function<void(const Row&)>& tell) {
  auto rows = database_->prepare(selection(table, where));
  if (!rows) return rows.error();
  for (;;) {
    const auto more = rows->step();
    if (!more) return more.error();
    if (!*more) return {};
    const auto row = row_at(table, *rows);
    if (row) {
      tell(*row);
    } else {
      damage_.add(row.error().message);
    }
  }
}

Result<void> RunFileReader::Work::load() {
  name_ = path_.stem().string();
  names_.clear();
  segments_.clear();
  tail_.clear();
  const auto meta = scan(Table::meta, "ORDER BY id", [&](const Row& row) {
    if (row.bytes(0) == "name") name_ = row.bytes(1);
  });
  if (!meta) return meta.error();
  const auto names = scan(Table::series, "ORDER BY id", [&](const Row& row) { names_[row.id] = row.bytes(0); });
  if (!names) return names.error();
  const auto segments = scan(Table::segment, "ORDER BY id", [&](const Row& row) {
    segments_.push_back({row.id, row.integer(0), std::numeric_limits<std::int64_t>::max()});
  });
  if (!segments) return segments.error();
  const auto tail = scan(Table::tail, "ORDER BY id", [&](const Row& row) {
    constexpr std::int64_t kMostPoints = 100'000'000;
    const std::int64_t points = std::clamp<std::int64_t>(row.integer(1), 0, kMostPoints);
    const auto groups = unpack_tail(row.bytes(2), static_cast<std::size_t>(points));
    if (!groups) return damage_.add(groups.error().message);
    for (const TailGroup& group : *groups) tail_[group.series].push_back({row.integer(0), group.start, group.points});
  });
  if (!tail) return tail.error();
  // A segment whose row is lost still has its points.
  auto used = database_->prepare(
      "SELECT DISTINCT segment FROM chunk WHERE level = 0 AND series IN "
      "(SELECT series FROM chunk ORDER BY series LIMIT 1)");
  if (!used) return used.error();
  std::set<std::int64_t> known;
  for (const Segment& segment : segments_) known.insert(segment.id);
  for (;;) {
    const auto more = used->step();
    if (!more) return more.error();
    if (!*more) break;
    const std::int64_t id = used->integer(0);
    if (known.insert(id).second) segments_.push_back({id, std::numeric_limits<std::int64_t>::max()});
  }
  std::sort(segments_.begin(), segments_.end(), [](const Segment& a, const Segment& b) { return a.id < b.id; });
  std::int64_t cut = std::numeric_limits<std::int64_t>::max();
  for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment) {
    segment->cut = cut;
    cut = std::min(cut, segment->first_step);
  }
  return {};
}

Result<bool> RunFileReader::Work::refresh() {
  if (salvaged_) return false;
  const auto before = database_->ask("PRAGMA data_version");
  if (!before) return before.error();
  // The end of one transaction and the begin of the next: now newer commits can be seen.
  if (const auto next = database_->execute("COMMIT; BEGIN"); !next) return next.error();
  const auto now = database_->ask("PRAGMA data_version");
  if (!now) return now.error();
  if (*before == *now) return false;
  const auto loaded = attempt<void>([&] { return load(); });
  if (!loaded) return loaded.error();
  return true;
}

std::optional<std::int64_t> RunFileReader::Work::find(std::string_view name) const {
  for (const auto& [id, known] : names_) {
    if (known == name) return id;
  }
  return {};
}

Result<std::vector<std::int64_t>> RunFileReader::Work::series_with_points() {
  std::set<std::int64_t> ids;
  for (const auto& [id, tail] : tail_) ids.insert(id);
  // Jumps from series to series along the index, for there may be many chunks of each.
  auto next = database_->prepare("SELECT min(series) FROM chunk WHERE series > ?");
  if (!next) return next.error();
  for (std::int64_t at = -1;;) {
    next->bind(1, at);
    const auto row = next->step();
    if (!row) return row.error();
    if (!*row || !next->is_integer(0)) break;
    at = next->integer(0);
    next->reset();
    ids.insert(at);
  }
  return std::vector<std::int64_t>(ids.begin(), ids.end());
}

Result<std::vector<Histogram>> RunFileReader::Work::histograms(std::int64_t series, const WindowRequest& request) {
  auto rows =
      database_->prepare("SELECT id, step FROM histogram WHERE series = ? AND step BETWEEN ? AND ? ORDER BY id");
  if (!rows) return rows.error();
  rows->bind(1, series).bind(2, request.first_step).bind(3, request.last_step);
  std::vector<std::pair<std::int64_t, std::int64_t>> places;  // id and step
  for (;;) {
    const auto more = rows->step();
    if (!more) return more.error();
    if (!*more) break;
    // Where the steps went back, the later ones win.
    while (!places.empty() && places.back().second >= rows->integer(1)) places.pop_back();
    places.emplace_back(rows->integer(0), rows->integer(1));
  }
  std::vector<Histogram> found;
  const std::size_t wanted = std::min(places.size(), std::max<std::size_t>(request.most_spans, 1));
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t at = wanted == 1 ? places.size() - 1 : i * (places.size() - 1) / (wanted - 1);
    const std::string where = fmt::format("WHERE id = {}", places[at].first);
    const auto read = scan(Table::histogram, where, [&](const Row& row) {
      auto histogram = unpack_histogram(row.bytes(3));
      if (!histogram) return damage_.add(histogram.error().message);
      histogram->step = row.integer(1);
      histogram->wall_time = to_seconds(row.integer(2));
      found.push_back(std::move(*histogram));
    });
    if (!read) return read.error();
  }
  return found;
}

/// An index that lost a chunk would hide it without a word.
Result<void> RunFileReader::Work::check_index() {
  const auto rows = database_->ask("SELECT count(*) FROM chunk NOT INDEXED");
  if (!rows) return rows.error();
  const auto indexed = database_->ask("SELECT count(*) FROM chunk INDEXED BY chunk_by_series WHERE series >= 0");
  if (!indexed) return indexed.error();
  if (*rows != *indexed) return Error{ErrorCode::corrupt, "the index of the chunks is damaged", {}};
  return {};
}

Result<std::vector<Mark>> RunFileReader::Work::marks() {
  std::vector<Mark> marks;
  const auto read = scan(Table::mark, "ORDER BY id", [&](const Row& row) {
    const auto kind = static_cast<Mark::Kind>(
        std::clamp<std::int64_t>(row.integer(0), 0, static_cast<std::int64_t>(Mark::Kind::note)));
    marks.push_back({kind, row.integer(1), to_seconds(row.integer(2)), row.bytes(3)});
  });
  if (!read) return read.error();
  return marks;
}

Result<std::map<std::string, std::string, std::less<>>> RunFileReader::Work::configuration() {
  std::map<std::string, std::string, std::less<>> entries;
  const auto read = scan(Table::config, "ORDER BY id", [&](const Row& row) { entries[row.bytes(0)] = row.bytes(1); });
  if (!read) return read.error();
  return entries;
}

/// In this order: a restart, which is a mark, comes before the points of its segment.
Result<bool> RunFileReader::Work::tell(EventSink& sink, Told& told) {
  const auto entries = configuration();
  if (!entries) return entries.error();
  bool anything = false;
  for (const auto& [key, value] : *entries) {
    const auto known = told.config.find(key);
    if (known != told.config.end() && known->second == value) continue;
    sink.config(key, value);
    told.config.insert_or_assign(key, value);
    anything = true;
  }
  auto all_marks = marks();
  if (!all_marks) return all_marks.error();
  for (auto i = static_cast<std::size_t>(told.marks); i < all_marks->size(); ++i) {
    sink.add(std::move((*all_marks)[i]));
    anything = true;
  }
  told.marks = static_cast<std::int64_t>(all_marks->size());
  const auto points = tell_series(sink, told);
  if (!points) return points.error();
  const auto histograms = tell_histograms(sink, told);
  if (!histograms) return histograms.error();
  return anything || *points || *histograms;
}

Result<void> RunFileReader::Work::look_over() {
  return attempt<void>([&]() -> Result<void> {
    if (auto sound = check_index(); !sound) return sound;
    if (const auto entries = configuration(); !entries) return entries.error();
    if (const auto all_marks = marks(); !all_marks) return all_marks.error();
    return {};
  });
}

Result<bool> RunFileReader::Work::tell_series(EventSink& sink, Told& told) {
  bool anything = false;
  const auto with_points = series_with_points();
  if (!with_points) return with_points.error();
  std::map<std::int64_t, SeriesId> ids;
  for (const auto& [id, name] : names_) ids[id] = sink.series(name);
  for (const std::int64_t id : *with_points) {
    if (ids.count(id) == 0) ids[id] = sink.series(name_of(id));
  }
  for (const Segment& segment : segments_) {
    if (segment.id < told.segment) continue;
    told.segment = segment.id;
    for (std::size_t first = 0; first < with_points->size(); first += kMergedSeries) {
      const std::size_t count = std::min(kMergedSeries, with_points->size() - first);
      const auto read = merge_series(segment, std::span(*with_points).subspan(first, count), ids, sink, told);
      if (!read) return read.error();
      anything = anything || *read;
    }
  }
  return anything;
}

/// Tells the series of a segment step by step, as they were recorded.
Result<bool> RunFileReader::Work::merge_series(const Segment& segment, std::span<const std::int64_t> series_ids,
                                               const std::map<std::int64_t, SeriesId>& ids, EventSink& sink,
                                               Told& told) {
  struct Source {
    SeriesReader reader;
    SeriesId series = 0;
    SeriesReader::Progress progress = {};
    std::vector<Point> points = {};
    std::size_t next = 0;
  };
  std::deque<Source> sources;
  // The smallest step comes first, and of one step the series that was made first.
  using Head = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto refill = [&](std::size_t i) -> Result<void> {
    Source& source = sources[i];
    source.next = 0;
    const auto more = source.reader.next_points(segment, source.progress, source.points);
    if (!more) return more.error();
    if (*more) heads.emplace(source.points.front().step, i);
    return {};
  };
  for (const std::int64_t id : series_ids) {
    sources.push_back({series(id), ids.at(id), {.at = told.points[{segment.id, id}]}});
    if (const auto filled = refill(sources.size() - 1); !filled) return filled.error();
  }
  const bool anything = !heads.empty();
  while (!heads.empty()) {
    const std::size_t i = heads.top().second;
    heads.pop();
    Source& source = sources[i];
    const Point& point = source.points[source.next++];
    sink.add(Event{source.series, point.step, point.wall_time, point.value});
    if (source.next < source.points.size()) {
      heads.emplace(source.points[source.next].step, i);
    } else if (const auto filled = refill(i); !filled) {
      return filled.error();
    }
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    told.points[{segment.id, series_ids[i]}] = sources[i].progress.at;
  }
  return anything;
}

Result<bool> RunFileReader::Work::tell_histograms(EventSink& sink, Told& told) {
  bool anything = false;
  const std::string where = fmt::format("WHERE id > {} ORDER BY id", told.histograms);
  const auto scanned = scan(Table::histogram, where, [&](const Row& row) {
    told.histograms = row.id;
    anything = true;
    auto histogram = unpack_histogram(row.bytes(3));
    if (!histogram) return damage_.add(histogram.error().message);
    histogram->series = sink.series(name_of(row.integer(0)));
    histogram->step = row.integer(1);
    histogram->wall_time = to_seconds(row.integer(2));
    sink.distribution(*histogram);
  });
  if (!scanned) return scanned.error();
  return anything;
}

RunFileReader::RunFileReader(std::unique_ptr<Work> work) : work_(std::move(work)) {}
RunFileReader::RunFileReader(RunFileReader&&) noexcept = default;
RunFileReader& RunFileReader::operator=(RunFileReader&&) noexcept = default;
RunFileReader::~RunFileReader() = default;

Result<RunFileReader> RunFileReader::open(const std::filesystem::path& path) {
  auto work = std::make_unique<Work>(path);
  if (const auto opened = work->open(); !opened) return opened.error();
  return RunFileReader(std::move(work));
}

Result<bool> RunFileReader::refresh() {
  return work_->refresh();
}
const std::string& RunFileReader::name() const {
  return work_->name_;
}
const DamageReport& RunFileReader::damage() const {
  return work_->damage_.report;
}

Result<std::vector<SeriesInfo>> RunFileReader::series() {
  return work_->attempt<std::vector<SeriesInfo>>([&]() -> Result<std::vector<SeriesInfo>> {
    const auto ids = work_->series_with_points();
    if (!ids) return ids.error();
    std::vector<SeriesInfo> infos;
    for (const std::int64_t id : *ids) {
      auto info = work_->series(id).info();
      if (!info) return info.error();
      if (info->points > 0) infos.push_back(std::move(*info));
    }
    return infos;
  });
}

Result<std::vector<WindowSpan>> RunFileReader::window(std::string_view series, const WindowRequest& request) {
  return work_->attempt<std::vector<WindowSpan>>([&]() -> Result<std::vector<WindowSpan>> {
    const auto id = work_->find(series);
    if (!id) return Error{ErrorCode::not_found, "no series of that name in the run file", std::string(series)};
    WindowRequest possible = request;
    possible.most_spans = std::max<std::size_t>(request.most_spans, 1);
    auto spans = work_->series(*id).spans(work_->segments_, possible);
    if (!spans) return spans.error();
    return arranged(std::move(*spans), possible.most_spans);
  });
}

Result<std::vector<Histogram>> RunFileReader::histograms(std::string_view series, const WindowRequest& request) {
  return work_->attempt<std::vector<Histogram>>([&]() -> Result<std::vector<Histogram>> {
    const auto id = work_->find(series);
    if (!id) return Error{ErrorCode::not_found, "no histograms of that name in the run file", std::string(series)};
    return work_->histograms(*id, request);
  });
}

Result<std::vector<std::string>> RunFileReader::histogram_names() {
  return work_->attempt<std::vector<std::string>>([&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> names;
    auto rows = work_->database_->prepare("SELECT DISTINCT series FROM histogram ORDER BY series");
    if (!rows) return rows.error();
    for (;;) {
      const auto more = rows->step();
      if (!more) return more.error();
      if (!*more) return names;
      names.push_back(work_->name_of(rows->integer(0)));
    }
  });
}

Result<std::vector<Mark>> RunFileReader::marks() {
  return work_->attempt<std::vector<Mark>>([&] { return work_->marks(); });
}

Result<std::map<std::string, std::string, std::less<>>> RunFileReader::configuration() {
  return work_->attempt<std::map<std::string, std::string, std::less<>>>([&] { return work_->configuration(); });
}

Result<std::vector<LayerInfo>> RunFileReader::layers() {
  return work_->attempt<std::vector<LayerInfo>>([&]() -> Result<std::vector<LayerInfo>> {
    std::vector<LayerInfo> layers;
    const auto read = work_->scan(Table::layer, "ORDER BY id", [&](const Row& row) {
      layers.push_back(
          {row.bytes(0), row.bytes(1), shape_of(row.bytes(2)), static_cast<std::uint64_t>(row.integer(3))});
    });
    if (!read) return read.error();
    return layers;
  });
}

Result<std::vector<StoredReport>> RunFileReader::reports() {
  return work_->attempt<std::vector<StoredReport>>([&]() -> Result<std::vector<StoredReport>> {
    std::vector<StoredReport> reports;
    const auto read = work_->scan(Table::report, "ORDER BY id", [&](const Row& row) {
      reports.push_back({row.integer(0), to_seconds(row.integer(1)), row.bytes(2)});
    });
    if (!read) return read.error();
    return reports;
  });
}

Result<void> RunFileReader::read_events(EventSink& sink) {
  if (const auto sound = work_->look_over(); !sound) return sound.error();
  Work::Told told;
  const auto read = work_->tell(sink, told);
  if (!read) return read.error();
  return {};
}

Result<bool> RunFileReader::read_new(EventSink& sink) {
  const auto fresh = refresh();
  if (!fresh) return fresh.error();
  const bool first = std::exchange(work_->unread_, false);
  if (!*fresh && !first) return false;
  if (first) {
    if (const auto sound = work_->look_over(); !sound) return sound.error();
  }
  return work_->tell(sink, work_->told_);
}

Result<Run> read_run_file(const std::filesystem::path& path, const RunLimits& limits) {
  auto reader = RunFileReader::open(path);
  if (!reader) return reader.error();
  Run run(limits);
  if (const auto read = reader->read_events(run); !read) return read.error();
  run.name = reader->name();
  run.sources = {path.string()};
  run.format = kRunFileFormat;
  run.damage.merge(reader->damage());
  return run;
}

}  // namespace osler
