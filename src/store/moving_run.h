// MovingRun: one run on its way into a store, stream by stream.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "osler/store/ship.h"
#include "store/courier.h"
#include "store/labels.h"
#include "store/pending.h"

namespace osler::store {

/// What a run on its way needs of the shipper.
class Hold {
 public:
  virtual ~Hold() = default;

  /// Where rows go. Full ones are sent by `made_room`.
  virtual Pending& pending() = 0;
  virtual Courier& courier() = 0;
  /// Sends when much waits; returns at once when little does.
  virtual void make_room() = 0;
  /// Sends everything; false when it was told to stop before.
  virtual bool send() = 0;
};

class MovingRun;

/// What is known of a stream, in the store and of this reading.
struct StreamState {
  StoredStream stored;
  Reached reached;           // what the store knows, or will know with the next batch
  std::uint64_t points = 0;  // told in this reading, whether they were sent or not
};

/// A file that is read from its first byte: the number of an event is its place in the file, so that the same event has
/// the same number whenever it is read.
class LogStream final : public EventSink {
 public:
  LogStream(MovingRun& run, StreamState& state) : run_(run), state_(state), skip_(state.reached.number) {}

  SeriesId series(std::string_view name) override;
  void add(const Event& event) override;
  void add(Mark mark) override;
  void config(std::string_view key, std::string_view value) override;
  void distribution(const Histogram& histogram) override;

  void read_to(std::uint64_t offset, std::uint64_t fingerprint);
  [[nodiscard]] StreamState& state() { return state_; }

 private:
  /// Whether the next event is one that the store does not have; counts it.
  bool is_new();
  [[nodiscard]] Origin origin() const;

  MovingRun& run_;
  StreamState& state_;
  std::uint64_t skip_;
  std::uint64_t next_ = 0;
  std::unordered_map<std::string, SeriesId> ids_;
  std::vector<std::uint64_t> hashes_;
};

/// A database of points, such as a run file: the number of a point is its time, so that the same point has the same
/// number in whatever order the points are told.
class DatabaseStream final : public EventSink {
 public:
  DatabaseStream(MovingRun& run, std::string path, std::string format, std::filesystem::path file)
      : run_(run), path_(std::move(path)), format_(std::move(format)), file_(std::move(file)) {}

  SeriesId series(std::string_view name) override;
  void add(const Event& event) override;
  void add(Mark mark) override;
  void config(std::string_view key, std::string_view value) override;
  void distribution(const Histogram& histogram) override;

 private:
  /// Finds out with the first point whether this is still the database that was shipped before.
  bool resolve(const Event& first);
  [[nodiscard]] Origin origin() const;
  void tell_series(SeriesId id);

  MovingRun& run_;
  std::string path_;
  std::string format_;
  std::filesystem::path file_;  // that it lies in
  std::optional<bool> away_;
  StreamState* state_ = nullptr;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> hashes_;
  std::unordered_map<std::string, SeriesId> ids_;
  std::vector<Mark> early_marks_;
  std::vector<std::pair<std::string, std::string>> early_config_;
};

class MovingRun final : public ShippedRun {
 public:
  MovingRun(Hold& hold, RunRow row) : hold_(hold), row_(std::move(row)) {}

  EventSink& begin(const SourceFile& file, std::size_t position) override;
  void read_to(std::size_t position, std::uint64_t offset, std::string_view head, std::string_view tail) override;
  EventSink& stream(const std::string& path, const std::string& format, bool over) override;
  EventSink& database(const std::string& path, const std::string& format) override;

  void rename(const std::string& name, const std::string& format);
  /// Adds the rows that say how far the run has come.
  void finish_batch();
  /// The batch with these rows is safe.
  void sent();

  // For its streams.
  [[nodiscard]] Hold& hold() { return hold_; }
  [[nodiscard]] std::uint64_t id() const { return row_.run; }
  void changed() { touched_ = true; }
  void saw(const Event& event);
  /// What is known of the path, to go on with or to begin anew; null when the store could not be asked before the end.
  StreamState* known(const std::string& path);
  /// A new stream for the path, in place of what was known of it or behind it.
  StreamState* begin_stream(const std::string& path, const std::string& format, std::uint32_t position,
                            std::uint64_t inode, bool over);
  /// Whether the point was not sent by this process yet.
  bool is_news(std::uint64_t point) { return told_.insert(point).second; }
  void reached(StreamState& state, const Reached& reached);
  /// Whether the file's time was over when the run was pruned, and nothing was written to it since; also when the store
  /// could not be asked before the end.
  [[nodiscard]] bool stays_away(const std::filesystem::path& file);

 private:
  bool load();
  bool load_labels();
  EventSink& log(const SourceFile& file, std::uint32_t position);
  [[nodiscard]] static bool continues(const std::filesystem::path& path, const Reached& reached);

  Hold& hold_;
  RunRow row_;
  bool loaded_ = false;
  bool touched_ = false;
  bool behind_ = false;  // the run's own row was written before the newest of its events
  Labels labels_;
  bool returns_ = false;                        // it was removed, or may have been, and is told anew
  std::map<std::string, StreamState*> newest_;  // by path
  std::vector<std::unique_ptr<StreamState>> states_;
  std::set<StreamState*> moved_;  // since the last batch
  std::map<std::size_t, std::unique_ptr<LogStream>> logs_;
  std::map<std::string, std::unique_ptr<DatabaseStream>> databases_;
  std::unique_ptr<LogStream> pipe_;
  std::unordered_set<std::uint64_t> told_;
};

}  // namespace osler::store
