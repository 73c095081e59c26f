// Files are looked at a few times a second; a pipe is read by a thread that hands over what came.
#include "cli/watch/source.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>

#include "cli/stream.h"
#include "cli/terminal.h"
#include "cli/watch/run_file.h"
#include "formats/pump.h"
#include "osler/source/source.h"

namespace osler::cli {
namespace {

constexpr double kLook = 0.25;  // seconds from one look at the files, or into the pipe, to the next
constexpr double kSearch = 2;
// Searching large folders takes at most a twentieth of the time.
constexpr double kSearchShare = 20;

double now_seconds() {
  return real_clock().wall();
}

class WatchedFiles final : public WatchedSource {
 public:
  WatchedFiles(const std::vector<std::string>& paths, const ReadOptions& options, int interrupt,
               Surroundings surroundings)
      : interrupt_(interrupt), surroundings_(surroundings), options_(for_search(options)) {
    for (const std::string& path : paths) places_.push_back({path, {surroundings_.files, path, options_}, {}});
  }

  Result<bool> read_new() override {
    WatchClock& clock = surroundings_.clock;
    if (started_) clock.wait(kLook, interrupt_);
    started_ = true;
    const double start = clock.steady();
    if (start >= next_search_) {
      waiting_for_.clear();
      for (Place& place : places_) {
        if (const auto found = search(place); !found) return found.error();
      }
      const double end = clock.steady();
      next_search_ = end + std::max(kSearch, kSearchShare * (end - start));
    }
    bool changed = false;
    for (Place& place : places_) {
      changed = place.logs.read_new() || changed;
      for (FollowedRunFile& file : place.run_files) changed = file.read_new() || changed;
    }
    return changed;
  }

  [[nodiscard]] bool ended() const override { return false; }

  Result<void> finish() override {
    waiting_for_.clear();
    for (Place& place : places_) {
      // What came since the last search is there, too.
      if (const auto found = search(place); found) place.logs.read_new();
      place.logs.finish();
      for (FollowedRunFile& file : place.run_files) file.read_new();
    }
    if (runs().empty()) return Error{ErrorCode::not_found, "nothing to watch has appeared: " + waiting_for_, {}};
    return {};
  }

  [[nodiscard]] std::vector<Watched> runs() const override {
    std::vector<Watched> runs;
    for (const Place& place : places_) {
      for (const FollowedRun& run : place.logs.runs())
        runs.push_back({&run.run(), run.modified_seconds(), run.source().doubtful});
      for (const FollowedRunFile& file : place.run_files) {
        if (!file.run().all_series().empty()) runs.push_back({&file.run(), file.modified_seconds(), false});
      }
    }
    return runs;
  }

  [[nodiscard]] std::string waiting_for() const override { return runs().empty() ? waiting_for_ : ""; }

  [[nodiscard]] bool incomplete() const override {
    return std::any_of(places_.begin(), places_.end(),
                       [](const Place& place) { return !place.logs.unreadable().empty(); });
  }

 private:
  /// What one path of the command line names.
  struct Place {
    std::filesystem::path path;
    Follower logs;
    std::deque<FollowedRunFile> run_files;
  };

  void add_run_file(Place& place, const std::filesystem::path& path) const {
    const bool known = std::any_of(place.run_files.begin(), place.run_files.end(),
                                   [&](const FollowedRunFile& file) { return file.path() == path; });
    if (!known) place.run_files.emplace_back(path, options_.limits);
  }

  /// Looks for what is new at one place; fails when nothing will ever come of it.
  Result<void> search(Place& place) {
    // A run file is a database; to the readers of logs it would look like rubbish.
    if (options_.format.empty() && names_run_file(surroundings_.files, place.path)) {
      add_run_file(place, place.path);
      return {};
    }
    const auto found = place.logs.search();
    for (const auto& path : place.logs.others()) add_run_file(place, path);
    for (const Error& error : place.logs.unreadable()) {
      if (told_.insert(describe(error)).second) complain(error);
    }
    if (found) return {};
    // A format that does not exist never will; anything else may still appear.
    if (found.error().code == ErrorCode::invalid_argument) return found.error();
    if (place.run_files.empty()) waiting_for_ = describe(found.error());
    return {};
  }

  int interrupt_;
  Surroundings surroundings_;
  ReadOptions options_;
  std::deque<Place> places_;
  double next_search_ = 0;  // on the steady clock
  std::string waiting_for_;
  std::set<std::string> told_;  // what could not be looked into, said once
  bool started_ = false;
};

class WatchedStream final : public WatchedSource {
 public:
  /// `cancel` is an event that ends the reading of `file`, or -1 when the file always ends by itself.
  WatchedStream(std::unique_ptr<ReadableFile> file, FollowedStream stream, int cancel)
      : file_(std::move(file)), stream_(std::move(stream)), cancel_(cancel), reader_([this] { read(); }) {}
  ~WatchedStream() override {
    {
      const std::lock_guard lock(mutex_);
      abandoned_ = true;
    }
    room_.notify_one();
    if (cancel_ < 0) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(cancel_, &one, sizeof one);
    reader_.join();
    ::close(cancel_);
  }
  WatchedStream(const WatchedStream&) = delete;
  WatchedStream& operator=(const WatchedStream&) = delete;

  Result<bool> read_new() override {
    std::vector<std::byte> bytes;
    {
      std::unique_lock lock(mutex_);
      came_.wait_for(lock, std::chrono::duration<double>(kLook), [this] { return !bytes_.empty() || closed_; });
      bytes.swap(bytes_);
      ended_ = closed_;
      if (failure_ && bytes.empty()) return *failure_;
    }
    room_.notify_one();
    if (bytes.empty() || unreadable_) return false;
    modified_seconds_ = now_seconds();
    const auto fed = stream_.feed(bytes);
    if (fed) return true;
    // Reading goes on all the same: a pipe that nobody reads would end the training that writes to it.
    unreadable_ = fed.error();
    return false;
  }

  [[nodiscard]] bool ended() const override { return ended_; }
  Result<void> finish() override {
    // A pipe whose writer is silent is not waited for.
    while (!ended_) {
      const auto more = read_new();
      if (!more || !*more) break;
    }
    if (unreadable_) return *unreadable_;
    return stream_.finish();
  }
  [[nodiscard]] std::vector<Watched> runs() const override {
    if (stream_.run().all_series().empty()) return {};
    return {{&stream_.run(), modified_seconds_, false}};
  }
  [[nodiscard]] std::string waiting_for() const override {
    if (!runs().empty()) return {};
    return unreadable_ ? describe(*unreadable_) : "no numbers have come yet";
  }

 private:
  static constexpr std::size_t kMostWaiting = std::size_t{16} << 20;

  void read() {
    std::vector<std::byte> buffer(kPumpBufferBytes);
    for (;;) {
      const auto length = file_->read(buffer);
      std::unique_lock lock(mutex_);
      if (!length) failure_ = length.error();
      closed_ = !length || *length == 0;
      if (!closed_) bytes_.insert(bytes_.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*length));
      came_.notify_one();
      if (closed_) return;
      room_.wait(lock, [this] { return abandoned_ || bytes_.size() < kMostWaiting; });
      if (abandoned_) return;
    }
  }

  std::unique_ptr<ReadableFile> file_;
  FollowedStream stream_;
  int cancel_;
  std::optional<Error> unreadable_;
  double modified_seconds_ = now_seconds();
  bool ended_ = false;
  std::mutex mutex_;
  std::condition_variable came_;
  std::condition_variable room_;
  std::vector<std::byte> bytes_;
  std::optional<Error> failure_;
  bool closed_ = false;
  bool abandoned_ = false;
  std::jthread reader_;
};

}  // namespace

std::unique_ptr<WatchedSource> watch_files(const std::vector<std::string>& paths, const ReadOptions& options,
                                           int interrupt, Surroundings surroundings) {
  return std::make_unique<WatchedFiles>(paths, options, interrupt, surroundings);
}

Result<std::unique_ptr<WatchedSource>> watch_stream(const std::string& path, const ReadOptions& options,
                                                    int interrupt) {
  const int cancel = ::eventfd(0, EFD_CLOEXEC);
  auto file = open_stream(path, interrupt, cancel);
  if (!file) return file.error();
  auto stream = FollowedStream::open(path == "-" ? "standard input" : path, options);
  if (!stream) return stream.error();
  return std::unique_ptr<WatchedSource>(std::make_unique<WatchedStream>(std::move(*file), std::move(*stream), cancel));
}

Result<std::unique_ptr<WatchedSource>> watch_output(std::unique_ptr<ReadableFile> output, const std::string& name,
                                                    const ReadOptions& options) {
  auto stream = FollowedStream::open(name, options);
  if (!stream) return stream.error();
  return std::unique_ptr<WatchedSource>(std::make_unique<WatchedStream>(std::move(output), std::move(*stream), -1));
}

}  // namespace osler::cli
