// Files are looked at a few times a second; a pipe is read by a thread that hands over what came.
#include "cli/watch/source.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "cli/inputs.h"
#include "cli/stream.h"
#include "cli/watch/run_file.h"
#include "formats/pump.h"

namespace osler::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLook{250};
constexpr std::chrono::seconds kSearch{2};
// Searching large folders takes at most a twentieth of the time.
constexpr int kSearchShare = 20;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Waits for `time`, or until Ctrl-C.
void sleep(std::chrono::milliseconds time, int interrupt) {
  pollfd interrupted{interrupt, POLLIN, 0};
  ::poll(&interrupted, 1, static_cast<int>(time.count()));
}

class WatchedFiles final : public WatchedSource {
 public:
  WatchedFiles(const std::vector<std::string>& paths, const ReadOptions& options, int interrupt)
      : interrupt_(interrupt), options_(options) {
    for (const std::string& path : paths) places_.push_back({path, {real_file_system(), path, options}, {}});
  }

  Result<bool> read_new() override {
    if (started_) sleep(kLook, interrupt_);
    started_ = true;
    const auto start = Clock::now();
    if (start >= next_search_) {
      waiting_for_.clear();
      for (Place& place : places_) {
        if (options_.format.empty()) look_for_run_files(place);
        // A run file is a database; to the readers of logs it would look like rubbish.
        if (place.run_files.size() == 1 && place.run_files.front().path() == place.path) continue;
        const auto found = place.logs.search();
        if (found) continue;
        // A format that does not exist never will; anything else may still appear.
        if (found.error().code == ErrorCode::invalid_argument) return found.error();
        if (place.run_files.empty()) waiting_for_ = describe(found.error());
      }
      const auto end = Clock::now();
      next_search_ = end + std::max<Clock::duration>(kSearch, kSearchShare * (end - start));
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
    for (Place& place : places_) {
      place.logs.finish();
      for (FollowedRunFile& file : place.run_files) file.read_new();
    }
    if (runs().empty()) return Error{ErrorCode::not_found, "nothing to watch has appeared: " + waiting_for_, {}};
    return {};
  }

  [[nodiscard]] std::vector<Watched> runs() const override {
    std::vector<Watched> runs;
    for (const Place& place : places_) {
      for (const FollowedRun& run : place.logs.runs()) runs.push_back({&run.run(), run.modified_seconds()});
      for (const FollowedRunFile& file : place.run_files) {
        if (!file.run().all_series().empty()) runs.push_back({&file.run(), file.modified_seconds()});
      }
    }
    return runs;
  }

  [[nodiscard]] std::string waiting_for() const override { return runs().empty() ? waiting_for_ : ""; }

 private:
  /// What one path of the command line names.
  struct Place {
    std::filesystem::path path;
    Follower logs;
    std::deque<FollowedRunFile> run_files;
  };

  void look_for_run_files(Place& place) const {
    for (const auto& found : find_run_files(real_file_system(), place.path)) {
      const bool known = std::any_of(place.run_files.begin(), place.run_files.end(),
                                     [&](const FollowedRunFile& file) { return file.path() == found; });
      if (!known) place.run_files.emplace_back(found, options_.limits);
    }
  }

  int interrupt_;
  ReadOptions options_;
  std::deque<Place> places_;
  Clock::time_point next_search_;
  std::string waiting_for_;
  bool started_ = false;
};

class WatchedStream final : public WatchedSource {
 public:
  WatchedStream(std::unique_ptr<ReadableFile> file, FollowedStream stream)
      : file_(std::move(file)), stream_(std::move(stream)), reader_([this] { read(); }) {}
  ~WatchedStream() override {
    {
      const std::lock_guard lock(mutex_);
      abandoned_ = true;
    }
    room_.notify_one();
  }

  Result<bool> read_new() override {
    std::vector<std::byte> bytes;
    {
      std::unique_lock lock(mutex_);
      came_.wait_for(lock, kLook, [this] { return !bytes_.empty() || closed_; });
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
    while (!ended_) {
      if (const auto more = read_new(); !more) break;
    }
    if (unreadable_) return *unreadable_;
    return stream_.finish();
  }
  [[nodiscard]] std::vector<Watched> runs() const override {
    if (stream_.run().all_series().empty()) return {};
    return {{&stream_.run(), modified_seconds_}};
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
                                           int interrupt) {
  return std::make_unique<WatchedFiles>(paths, options, interrupt);
}

Result<std::unique_ptr<WatchedSource>> watch_stream(const std::string& path, const ReadOptions& options,
                                                    int interrupt) {
  auto file = open_stream(path, interrupt);
  if (!file) return file.error();
  auto stream = FollowedStream::open(path, options);
  if (!stream) return stream.error();
  return std::unique_ptr<WatchedSource>(std::make_unique<WatchedStream>(std::move(*file), std::move(*stream)));
}

}  // namespace osler::cli
