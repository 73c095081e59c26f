// Files are looked at a few times a second; a pipe is read by a thread, so that its writer never waits for the store.
#include "cli/fleet/shipping.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "cli/stream.h"
#include "cli/terminal.h"
#include "cli/watch/surroundings.h"
#include "osler/formats/follow.h"
#include "osler/runfile/reader.h"
#include "osler/source/source.h"

namespace osler::cli {
namespace {

constexpr double kLook = 0.25;  // seconds from one look at the files to the next
constexpr double kSearch = 2;
constexpr double kSearchShare = 20;  // searching large folders takes at most a twentieth of the time

std::string whole_path(const std::filesystem::path& path) {
  std::error_code problem;
  const auto whole = std::filesystem::absolute(path, problem);
  return (problem ? path : whole).lexically_normal().string();
}

/// A run file on its way, as far as it was committed.
class ShippedRunFile {
 public:
  ShippedRunFile(Shipper& shipper, std::filesystem::path path, const std::string& name)
      : path_(std::move(path)),
        run_(shipper.run(whole_path(path_), name.empty() ? path_.string() : name, std::string(kRunFileFormat))) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// True when there was anything new.
  bool read_new() {
    const auto info = real_file_system().info(path_);
    if (!info) return false;
    if (reader_ && info->inode != inode_) reader_.reset();
    if (!reader_) {
      auto opened = RunFileReader::open(path_);
      if (!opened) return false;  // it is just being made, perhaps
      reader_ = std::move(*opened);
      inode_ = info->inode;
      sink_ = &run_.database(whole_path(path_), std::string(kRunFileFormat));
    }
    const auto changed = reader_->read_new(*sink_);
    if (!changed) reader_.reset();
    return changed && *changed;
  }

 private:
  std::filesystem::path path_;
  ShippedRun& run_;
  EventSink* sink_ = nullptr;
  std::optional<RunFileReader> reader_;
  std::uint64_t inode_ = 0;
};

/// Everything that lies at the paths of the command line.
class ShippedPlaces {
 public:
  ShippedPlaces(Shipper& shipper, const ShippingWishes& wishes, std::stop_token stop)
      : shipper_(shipper), wishes_(wishes) {
    ReadOptions options;
    options.format = wishes.format;
    options.stop = std::move(stop);
    // The run that is kept beside what is shipped is not looked at: let it be small.
    options.limits.per_series = {.buckets = 16, .recent = 16};
    options.limits.fewest_buckets = 4;
    options.limits.histograms = {.per_series = 2, .bins_in_all = 2};
    options_ = for_search(options);
    for (const std::string& path : wishes.paths) {
      Place& place = places_.emplace_back(Place{path, {real_file_system(), path, options_}, {}});
      place.logs.listen([this](const RunSource& source) { return listener_of(source); });
    }
  }

  /// Looks for what is new; fails when nothing will ever come of a place.
  Result<void> search() {
    for (Place& place : places_) {
      if (options_.format.empty() && names_run_file(real_file_system(), place.path)) {
        add_run_file(place, place.path);
        continue;
      }
      const auto found = place.logs.search();
      for (const auto& path : place.logs.others()) add_run_file(place, path);
      for (const Error& error : place.logs.unreadable()) tell_once(error);
      if (found) continue;
      if (found.error().code == ErrorCode::invalid_argument) return found.error();
      if (place.run_files.empty()) tell_once(found.error());
    }
    return {};
  }

  bool read_new() {
    bool changed = false;
    for (Place& place : places_) {
      changed = place.logs.read_new() || changed;
      for (ShippedRunFile& file : place.run_files) changed = file.read_new() || changed;
    }
    return changed;
  }

  void finish() {
    for (Place& place : places_) place.logs.finish();
  }

  [[nodiscard]] bool empty() const { return !anything_; }

 private:
  struct Place {
    std::filesystem::path path;
    Follower logs;
    std::deque<ShippedRunFile> run_files;
  };

  FollowListener* listener_of(const RunSource& source) {
    if (source.doubtful || source.files.empty()) return nullptr;
    anything_ = true;
    // A folder of several files is one run; so is each of several in a file.
    const SourceFile& file = source.files.back();
    std::string path = whole_path(file.format != nullptr ? file.format->run_of(file.path) : file.path);
    if (!file.run.empty()) path += "#" + file.run;
    const std::string format = file.format != nullptr ? std::string(file.format->id) : "";
    return &shipper_.run(path, wishes_.name.empty() ? source.name : wishes_.name, format);
  }

  void add_run_file(Place& place, const std::filesystem::path& path) {
    const bool known = std::any_of(place.run_files.begin(), place.run_files.end(),
                                   [&](const ShippedRunFile& file) { return file.path() == path; });
    if (!known) place.run_files.emplace_back(shipper_, path, wishes_.name);
    anything_ = true;
  }

  void tell_once(const Error& error) {
    if (told_.insert(describe(error)).second) complain(describe(error));
  }

  Shipper& shipper_;
  const ShippingWishes& wishes_;
  ReadOptions options_;
  std::deque<Place> places_;
  std::set<std::string> told_;
  bool anything_ = false;
};

bool readable(int descriptor) {
  if (descriptor < 0) return false;
  pollfd waiting{descriptor, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

}  // namespace

Result<bool> ship_files(Shipper& shipper, const ShippingWishes& wishes, int interrupt) {
  ShippedPlaces places(shipper, wishes, {});
  WatchClock& clock = real_clock();
  double next_search = 0;
  double last_change = clock.steady();
  for (;;) {
    const double now = clock.steady();
    if (now >= next_search) {
      if (const auto found = places.search(); !found) return found.error();
      const double end = clock.steady();
      next_search = end + std::max(kSearch, kSearchShare * (end - now));
    }
    if (places.read_new()) last_change = clock.steady();
    shipper.tick();
    const bool idle = wishes.idle_seconds > 0 && clock.steady() - last_change >= wishes.idle_seconds;
    if (wishes.once || idle || readable(interrupt)) break;
    clock.wait(kLook, interrupt);
  }
  if (wishes.once && places.empty()) return Error{ErrorCode::not_found, "there is nothing to ship", {}};
  if (!readable(interrupt)) places.finish();
  return shipper.flush();
}

namespace {

/// The bytes of a pipe, taken by a thread as fast as they come while there is room.
class PipeBytes {
 public:
  explicit PipeBytes(std::unique_ptr<ReadableFile> file)
      : file_(std::move(file)), reader_([this](const std::stop_token& stop) { read(stop); }) {}
  ~PipeBytes() {
    reader_.request_stop();
    room_.notify_one();
  }
  PipeBytes(const PipeBytes&) = delete;
  PipeBytes& operator=(const PipeBytes&) = delete;

  /// What came; nothing after a while without. `ended` is told with the last of it.
  std::vector<std::byte> take(bool& ended) {
    std::vector<std::byte> bytes;
    {
      std::unique_lock lock(mutex_);
      came_.wait_for(lock, std::chrono::duration<double>(kLook), [this] { return !bytes_.empty() || closed_; });
      bytes.swap(bytes_);
      ended = closed_;
    }
    room_.notify_one();
    return bytes;
  }

 private:
  static constexpr std::size_t kMostWaiting = std::size_t{16} << 20;
  static constexpr std::size_t kPiece = std::size_t{256} << 10;

  void read(const std::stop_token& stop) {
    std::vector<std::byte> buffer(kPiece);
    while (!stop.stop_requested()) {
      const auto length = file_->read(buffer);
      std::unique_lock lock(mutex_);
      closed_ = !length || *length == 0;
      if (!closed_) bytes_.insert(bytes_.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*length));
      came_.notify_one();
      if (closed_) return;
      room_.wait(lock, [&] { return stop.stop_requested() || bytes_.size() < kMostWaiting; });
    }
  }

  std::unique_ptr<ReadableFile> file_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::condition_variable room_;
  std::vector<std::byte> bytes_;
  bool closed_ = false;
  std::jthread reader_;
};

}  // namespace

Result<bool> ship_pipe(Shipper& shipper, const ShippingWishes& wishes, int interrupt) {
  const std::string& path = wishes.paths.front();
  auto file = open_stream(path, interrupt);
  if (!file) return file.error();
  ReadOptions options;
  options.format = wishes.format;
  auto stream = FollowedStream::open(path == "-" ? "standard input" : path, options);
  if (!stream) return stream.error();
  // Two pipes are two runs, unless they are given one name.
  const std::string name = wishes.name.empty() ? "pipe of " + std::to_string(::getpid()) : wishes.name;
  const auto began = static_cast<std::uint64_t>(real_clock().wall());
  const std::string identity =
      wishes.name.empty() ? "pipe:" + std::to_string(began) + ":" + name : "pipe:" + wishes.name;
  bool told = false;
  stream->listen([&](const std::string& format) -> EventSink& {
    return shipper.run(identity, name, format).stream(path, format, std::exchange(told, true));
  });
  std::optional<Error> unreadable;
  PipeBytes bytes(std::move(*file));
  for (bool ended = false; !ended;) {
    const auto piece = bytes.take(ended);
    if (!piece.empty() && !unreadable) {
      // Reading goes on all the same: a pipe that nobody reads would end the training that writes to it.
      if (const auto fed = stream->feed(piece); !fed) unreadable = fed.error();
    }
    shipper.tick();
  }
  const auto finished = unreadable ? Result<void>(*unreadable) : stream->finish();
  const bool all = shipper.flush();
  if (!finished) return finished.error();
  return all;
}

}  // namespace osler::cli
