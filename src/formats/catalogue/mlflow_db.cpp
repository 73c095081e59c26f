// MLflow's SQLite store.
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "formats/sqlite/database.h"
#include "osler/formats/format.h"

namespace osler::catalogue {
namespace {

using Path = std::filesystem::path;
using sqlite::Database;
using sqlite::Row;

constexpr std::size_t kMostRuns = 100'000;
constexpr std::size_t kLongestSetting = 1000;
/// From a pipe the whole database has to be kept; a file on disk has no such bound.
constexpr std::size_t kLargestStream = std::size_t{64} << 20;

Sniff sniff(const Peek& peek) {
  if (!sqlite::is_database(peek.head)) return Sniff::no;
  const bool has_runs =
      peek.head.find("latest_metrics") != std::string_view::npos ||
      (peek.head.find("run_uuid") != std::string_view::npos && peek.head.find("metrics") != std::string_view::npos);
  if (has_runs) return Sniff::certain;
  return peek.path.filename().string().find("mlflow") != std::string::npos ? Sniff::possible : Sniff::no;
}

Error no_store() {
  return {ErrorCode::unsupported,
          "is a SQLite database, but not one of MLflow: the tables runs and metrics are missing",
          {}};
}

/// The runs that have metrics and were not deleted, by the time they began.
Result<std::vector<StoredRun>> runs_in(Database& database) {
  if (!database.has_table("runs") || !database.has_table("metrics")) return no_store();
  std::set<std::string, std::less<>> measured;
  auto asked = database.query("SELECT DISTINCT run_uuid FROM metrics", {}, [&](const Row& row) {
    if (measured.size() < kMostRuns) measured.emplace(row.text(0));
  });
  if (!asked && measured.empty()) return asked.error();
  std::vector<StoredRun> runs;
  asked = database.query(
      "SELECT r.run_uuid, r.name,"
      " (SELECT t.value FROM tags t WHERE t.run_uuid = r.run_uuid AND t.key = 'mlflow.runName'),"
      " (SELECT e.name FROM experiments e WHERE e.experiment_id = r.experiment_id)"
      " FROM runs r WHERE r.lifecycle_stage IS NULL OR r.lifecycle_stage <> 'deleted' ORDER BY r.start_time, r.rowid",
      {}, [&](const Row& row) {
        if (measured.count(row.text(0)) == 0) return;
        std::string name(row.text(1));
        if (name.empty()) name = row.text(2);
        if (name.empty()) name = row.text(0);
        const std::string experiment(row.text(3));
        runs.push_back({std::string(row.text(0)), experiment.empty() ? name : experiment + "/" + name});
      });
  if (!asked && runs.empty()) return asked.error();
  return runs;
}

/// One metric while it is read.
struct Metric {
  SeriesId series = 0;
  bool counted = false;  // logged without steps: the order is the axis
  std::int64_t next = 0;
};

/// SQL has neither infinities nor NaN: MLflow writes the largest double, and a flag.
double value_of(const Row& row) {
  if (row.integer(4) != 0) return std::numeric_limits<double>::quiet_NaN();
  const double value = row.number(3);
  if (std::fabs(value) < std::numeric_limits<double>::max()) return value;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

class StoredRunReader {
 public:
  StoredRunReader(Database& database, const std::string& run, EventSink& sink)
      : database_(database), run_(run), sink_(sink) {}

  Result<void> read() {
    settings("SELECT key, value FROM params WHERE run_uuid = ?", "");
    settings("SELECT key, value FROM tags WHERE run_uuid = ? AND key LIKE 'mlflow.%' AND length(value) < 1000", "");
    auto read = axes();
    if (read) read = points();
    end();
    return read;
  }

 private:
  void settings(const char* sql, std::string_view prefix) {
    // A store without parameters is none the worse for it.
    static_cast<void>(database_.query(sql, {run_}, [&](const Row& row) {
      sink_.config(std::string(prefix).append(row.text(0)), row.text(1).substr(0, kLongestSetting));
    }));
  }

  /// Finds the metrics that have the same step in every row.
  Result<void> axes() {
    if (!database_.has_column("metrics", "step")) {
      stepless_ = true;
      return {};
    }
    return database_.query(
        "SELECT key FROM metrics WHERE run_uuid = ? GROUP BY key HAVING count(*) > 1 AND min(step) = max(step)", {run_},
        [&](const Row& row) { counted_.emplace(row.text(0)); });
  }

  Result<void> points() {
    const bool flagged = database_.has_column("metrics", "is_nan");
    const char* sql = stepless_ ? "SELECT key, 0, timestamp, value, 0 FROM metrics WHERE run_uuid = ? ORDER BY rowid"
                      : flagged
                          ? "SELECT key, step, timestamp, value, is_nan FROM metrics WHERE run_uuid = ? "
                            "ORDER BY rowid"
                          : "SELECT key, step, timestamp, value, 0 FROM metrics WHERE run_uuid = ? ORDER BY rowid";
    return database_.query(sql, {run_}, [&](const Row& row) { point(row); });
  }

  void point(const Row& row) {
    const std::string_view key = row.text(0);
    auto known = metrics_.find(key);
    if (known == metrics_.end()) {
      const bool counted = stepless_ || counted_.find(key) != counted_.end();
      known = metrics_.emplace(std::string(key), Metric{sink_.series(key), counted}).first;
    }
    Metric& metric = known->second;
    const std::int64_t step = metric.counted ? metric.next++ : row.integer(1);
    const double wall_time = row.null(2) ? kNoTime : static_cast<double>(row.integer(2)) / 1000;
    last_step_ = std::max(last_step_, step);
    sink_.add(Event{metric.series, step, wall_time, value_of(row)});
  }

  void end() {
    static_cast<void>(
        database_.query("SELECT status, end_time FROM runs WHERE run_uuid = ?", {run_}, [&](const Row& row) {
          const double wall_time = row.null(1) ? kNoTime : static_cast<double>(row.integer(1)) / 1000;
          const std::string_view status = row.text(0);
          if (status == "FINISHED") sink_.add(Mark{Mark::Kind::finished, last_step_, wall_time, "MLflow: finished"});
          if (status == "FAILED") sink_.add(Mark{Mark::Kind::crashed, last_step_, wall_time, "MLflow: failed"});
          if (status == "KILLED") sink_.add(Mark{Mark::Kind::note, last_step_, wall_time, "MLflow: killed"});
        }));
  }

  Database& database_;
  const std::string& run_;
  EventSink& sink_;
  bool stepless_ = false;
  std::set<std::string, std::less<>> counted_;
  std::map<std::string, Metric, std::less<>> metrics_;
  std::int64_t last_step_ = 0;
};

Error cut_off() {
  return {ErrorCode::truncated, "the database is shorter than its header says: it was cut off or is being written", {}};
}

Result<void> read_stored(Database& database, const std::string& run, EventSink& sink) {
  auto read = StoredRunReader(database, run, sink).read();
  if (database.cut_off()) return cut_off();
  return read;
}

/// Reads a database that came in pieces: it is kept, and its newest run is read at the end.
class MlflowDbReader final : public Reader {
 public:
  Result<void> feed(std::span<const std::byte> bytes, EventSink&, DamageReport&) override {
    if (bytes_.size() + bytes.size() > kLargestStream) {
      return Error{
          ErrorCode::unsupported, "a database of more than 64 MiB cannot be read from a pipe; name its file", {}};
    }
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }

  Result<void> finish(EventSink& sink, DamageReport& damage) override {
    auto database = Database::open(sqlite::bytes_of(std::move(bytes_)));
    if (!database) return database.error();
    const auto runs = runs_in(*database);
    if (!runs) return database->cut_off() ? cut_off() : runs.error();
    if (runs->empty()) return {};
    if (runs->size() > 1) {
      damage.add({{}, 0, 0, "holds " + std::to_string(runs->size()) + " runs; only the newest was read", 0});
    }
    return read_stored(*database, runs->back().id, sink);
  }

 private:
  std::string bytes_;
};

Result<Database> open_file(FileSystem& files, const Path& path, std::stop_token stop = {}) {
  auto bytes = sqlite::bytes_of(files, path);
  if (!bytes) return bytes.error();
  return Database::open(std::move(*bytes), std::move(stop));
}

Result<std::vector<StoredRun>> runs(FileSystem& files, const Path& path) {
  auto database = open_file(files, path);
  if (!database) return database.error();
  return runs_in(*database);
}

Result<void> read(FileSystem& files, const Path& path, const std::string& run, EventSink& sink, DamageReport& damage,
                  const std::stop_token& stop) {
  auto database = open_file(files, path, stop);
  if (!database) return database.error();
  const auto log = files.info(path.string() + "-wal");
  if (log && log->size_bytes > 0) {
    damage.add({{}, 0, 0, "what the write-ahead log beside it holds was not read", log->size_bytes});
  }
  return read_stored(*database, run, sink);
}

std::unique_ptr<Reader> open(const Path&) {
  return std::make_unique<MlflowDbReader>();
}

Path run_of(const Path& path) {
  return path;
}

constexpr std::string_view kDoc = R"(
`mlflow.db`, the SQLite file in which MLflow keeps all experiments of a tracking server
(`--backend-store-uri sqlite:///mlflow.db`).

**What is read.** Every run that has metrics and was not deleted is a run, called `experiment/run name`. Each metric is a
series with its steps and times; parameters and MLflow's own tags are configuration; the status becomes a mark.

**Quirks.** MLflow writes NaN as a flag and infinities as the largest double; both are turned back. A metric that was logged
without a step has the same step in every row: then the order of its rows is the axis.

**Limits.** The file is read in place, so its size does not matter. Locks, rollback journals and write-ahead logs are left
alone: while a server writes, the newest rows may be missing, and what a `-wal` file beside it holds is not read (the report
says so). From a pipe only the newest run of a database of at most 64 MiB is read. MLflow on PostgreSQL or MySQL cannot be
read: export the runs or use the file store.
)";

constexpr RunStore kStore = {runs, read};

}  // namespace

Format mlflow_db() {
  return {"mlflow-db", "MLflow SQLite store", kDoc, "", sniff, open, run_of, Part::stretch, "", &kStore};
}

}  // namespace osler::catalogue
