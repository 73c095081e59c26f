// Following runs while they are being written: files that grow, rotate, are rewritten or appear later, and pipes.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/formats/read.h"
#include "osler/run/run.h"

namespace osler {

/// Hears what is read of followed runs, file by file, beside the run that is made of it.
class FollowListener {
 public:
  virtual ~FollowListener() = default;

  /// Reading of a file begins with its first byte; what was heard of it before is heard again, unless another file has
  /// taken its name. `position` is its place among the files of the run. What is read goes into the sink, which is used
  /// until the next call for that position.
  virtual EventSink& begin(const SourceFile& file, std::size_t position) = 0;
  /// What the sink has got of the file so far is what its first `offset` bytes hold. `head` and `tail` as in FileEdges.
  virtual void read_to(std::size_t position, std::uint64_t offset, std::string_view head, std::string_view tail) = 0;
};

/// What tells whether a file has grown or was written anew: its first bytes, and those before a place in it.
struct FileEdges {
  std::string head;
  std::string tail;
};
/// The edges of the first `offset` bytes of a file. Fails when there are not so many.
[[nodiscard]] Result<FileEdges> file_edges(FileSystem& files, const std::filesystem::path& path, std::uint64_t offset);

/// A run in files that is read while they are written. What it holds is at any time what read_run() would give for the
/// complete lines or records so far. One thread at a time.
class FollowedRun {
 public:
  FollowedRun(RunSource source, ReadOptions options);
  ~FollowedRun();
  FollowedRun(FollowedRun&&) noexcept;
  FollowedRun& operator=(FollowedRun&&) noexcept;

  /// From now on, `listener` hears everything; it must outlive this, and this must not be moved any more. To be
  /// called before anything is read.
  void listen(FollowListener* listener) { listener_ = listener; }
  /// Takes a new list of the run's files, as found by another search.
  void set_source(RunSource source);
  /// Reads what was written since the last call; true when the run changed. A file that was renamed away is read to
  /// its end and its successor continues the run; one that was rewritten from its first byte is read anew.
  bool read_new(FileSystem& files);
  /// Takes the last line without a line end, and says what is cut off. Reading may go on afterwards.
  void finish();

  [[nodiscard]] const Run& run() const { return run_; }
  [[nodiscard]] const RunSource& source() const { return source_; }
  /// When the newest change was written, in seconds since the Unix epoch; 0 before the first.
  [[nodiscard]] double modified_seconds() const { return modified_seconds_; }

 private:
  struct File;
  enum class Change { none, growth, rewritten };

  void read_anew(FileSystem& files);
  Change look_at(FileSystem& files, File& file);
  Change look_at_store(FileSystem& files, File& file);
  bool take_bytes(File& file);
  void close(File& file);
  void open_reader(File& file);
  void tell_position(const File& file);
  void name_run();

  FollowListener* listener_ = nullptr;
  RunSource source_;
  ReadOptions options_;
  std::vector<File> files_;
  Run run_;
  double modified_seconds_ = 0;
  bool fresh_ = true;
};

/// All runs at a path, as they come into being. One thread at a time.
class Follower {
 public:
  /// `path` need not exist yet. `files` must outlive the follower.
  Follower(FileSystem& files, std::filesystem::path path, ReadOptions options = {});

  /// Asked once for each run that is found: who hears what is read of it, or nullptr.
  using Choose = std::function<FollowListener*(const RunSource&)>;
  void listen(Choose choose) { choose_ = std::move(choose); }
  /// Looks for runs and files that are new. Walks folders, so it costs more than read_new(). When nothing is there yet
  /// the error says why; waiting may help.
  [[nodiscard]] Result<void> search();
  /// Reads what was written since the last call into every run; true when any changed.
  bool read_new();
  void finish();

  [[nodiscard]] const std::deque<FollowedRun>& runs() const { return runs_; }
  /// Files with ReadOptions::other_ending that the last search found.
  [[nodiscard]] const std::vector<std::filesystem::path>& others() const { return others_; }
  /// Files and folders that the last search could not look into.
  [[nodiscard]] const std::vector<Error>& unreadable() const { return unreadable_; }

 private:
  FileSystem& files_;
  std::filesystem::path path_;
  ReadOptions options_;
  Choose choose_;
  std::deque<FollowedRun> runs_;
  std::vector<std::filesystem::path> others_;
  std::vector<Error> unreadable_;
};

/// A run that arrives through a pipe. While all of it fits into a sniffer's view its format is judged anew with every
/// piece, so that a first line need not betray it. One thread at a time.
class FollowedStream {
 public:
  /// Fails when `options.format` names no format.
  [[nodiscard]] static Result<FollowedStream> open(const std::string& name, const ReadOptions& options = {});

  /// What is read goes into a sink that `choose` gives, beside the run; to be called before anything is read. It is
  /// asked for one when the format is known, and again when the format turns out to be another one: then what the
  /// former got does not count.
  using Choose = std::function<EventSink&(const std::string& format)>;
  void listen(Choose choose) { choose_ = std::move(choose); }
  /// Takes the next bytes. An error is final.
  [[nodiscard]] Result<void> feed(std::span<const std::byte> bytes);
  /// The pipe has ended. Fails when there was nothing in it that could be read.
  [[nodiscard]] Result<void> finish();

  [[nodiscard]] const Run& run() const { return run_; }

 private:
  FollowedStream(std::string name, const ReadOptions& options, const Format* forced);
  void start(const Format* format);
  EventSink& sink();

  std::string name_;
  ReadOptions options_;
  const Format* forced_;
  const Format* format_ = nullptr;
  std::unique_ptr<Reader> reader_;
  Choose choose_;
  std::unique_ptr<EventSink> both_;  // the run and whoever listens; empty without one
  std::string head_;                 // all bytes so far while they fit into a Peek
  bool head_is_all_ = true;
  Run run_;
};

}  // namespace osler
