// Reading runs: one file after another, or several at once where that pays.
#include "osler/formats/read.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>

#include "formats/claim.h"
#include "formats/pump.h"
#include "formats/tape.h"
#include "osler/run/role.h"

namespace osler {
namespace {

// Below this, starting threads costs more than it brings.
constexpr std::uint64_t kWorthThreads = std::uint64_t{4} << 20;
constexpr std::size_t kMostThreads = 8;

/// Passes events on and counts them.
class CountingSink final : public EventSink {
 public:
  explicit CountingSink(EventSink& inner) : inner_(inner) {}

  SeriesId series(std::string_view name) override { return inner_.series(name); }
  void add(const Event& event) override {
    ++events;
    inner_.add(event);
  }
  void add(Mark mark) override {
    crashed = crashed || mark.kind == Mark::Kind::crashed;
    inner_.add(std::move(mark));
  }
  void config(std::string_view key, std::string_view value) override { inner_.config(key, value); }
  void distribution(const Histogram& histogram) override { inner_.distribution(histogram); }

  std::uint64_t events = 0;
  bool crashed = false;  ///< the log tells how the program ended

 private:
  EventSink& inner_;
};

/// What reading one run has in common over its files.
class RunReader {
 public:
  RunReader(EventSink& sink, DamageReport& damage, const ReadOptions& options)
      : sink_(sink), damage_(damage), options_(options) {}

  /// Reads a stream to its end, in this thread.
  void stream(ReadableFile& file, const std::filesystem::path& path, const Format* format) {
    buffer_.resize(kPumpBufferBytes);
    DamageReport damage;
    const Pumped pumped =
        pump(file, path, format, sink_, damage, options_.stop, buffer_, [&](std::uint64_t bytes) { tell(bytes); });
    settle(path, pumped, damage);
  }

  void files(FileSystem& files, const RunSource& source) {
    for (const SourceFile& file : source.files) {
      const auto info = files.info(file.path);
      if (info && info->kind == FileKind::regular) bytes_total_ += info->size_bytes;
    }
    if (bytes_total_ >= kWorthThreads) {
      in_threads(files, source);
    } else {
      in_turn(files, source);
    }
  }

  [[nodiscard]] Result<void> outcome(const std::string& name) const {
    // A program that ended before its first number has told what matters.
    if (sink_.events > 0 || sink_.crashed) return {};
    if (first_error_) return *first_error_;
    const std::string what =
        used_ == nullptr ? "" : " (read as " + std::string(used_->id) + "; if that is wrong, name another format)";
    return Error{ErrorCode::not_found, "no numbers were found in it" + what, name};
  }

  [[nodiscard]] const Format* used() const { return used_; }

 private:
  /// One file that is read in a thread of its own.
  struct Job {
    EventTape tape;
    DamageReport damage;
    Pumped pumped;
  };

  static Result<std::unique_ptr<ReadableFile>> open(FileSystem& files, const std::filesystem::path& path) {
    return files.open_read(path == "-" ? "/dev/stdin" : path);
  }

  /// Reads one run of a file that holds several.
  Pumped stored(FileSystem& files, const SourceFile& file, EventSink& sink, DamageReport& damage) const {
    const auto read = file.format->store->read(files, file.path, file.run, sink, damage, options_.stop);
    return {file.format, 0, read ? std::nullopt : std::optional(read.error())};
  }

  void in_turn(FileSystem& files, const RunSource& source) {
    for (const SourceFile& file : source.files) {
      if (!file.run.empty()) {
        DamageReport damage;
        const Pumped pumped = stored(files, file, sink_, damage);
        settle(file.path, pumped, damage);
        continue;
      }
      const auto opened = open(files, file.path);
      if (opened) {
        stream(**opened, file.path, file.format);
      } else {
        settle(file.path, {nullptr, 0, opened.error()}, {});
      }
    }
  }

  /// Threads take the files in order and record them on tapes, which are played in the same order: the sink cannot
  /// tell the difference.
  void in_threads(FileSystem& files, const RunSource& source) {
    std::deque<Job> jobs(source.files.size());
    std::atomic<std::size_t> next = 0;
    std::atomic<std::uint64_t> bytes_read = 0;
    const auto work = [&] {
      std::vector<std::byte> buffer(kPumpBufferBytes);
      for (std::size_t i = next++; i < jobs.size(); i = next++) {
        const SourceFile& file = source.files[i];
        if (!file.run.empty()) {
          jobs[i].pumped = stored(files, file, jobs[i].tape, jobs[i].damage);
          jobs[i].tape.close();
          continue;
        }
        const auto opened = open(files, file.path);
        if (opened) {
          jobs[i].pumped = pump(**opened, file.path, file.format, jobs[i].tape, jobs[i].damage, options_.stop, buffer,
                                [&](std::uint64_t bytes) { bytes_read += bytes; });
        } else {
          jobs[i].pumped.error = opened.error();
        }
        jobs[i].tape.close();
      }
    };
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min({jobs.size(), cores, kMostThreads}); ++i) threads.emplace_back(work);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      while (jobs[i].tape.play(sink_)) {
        bytes_read_ = bytes_read;
        tell(0);
      }
      settle(source.files[i].path, jobs[i].pumped, jobs[i].damage);
    }
  }

  /// Takes note of how a file ended: damage as long as the run has anything at all, else the answer.
  void settle(const std::filesystem::path& path, const Pumped& pumped, DamageReport damage) {
    damage.name_source(path.string());
    damage_.merge(damage);
    const bool describes = used_ != nullptr && used_->part == Part::configuration;
    if (pumped.format != nullptr && (used_ == nullptr || describes)) used_ = pumped.format;
    if (!pumped.error) return;
    damage_.add({path.string(), pumped.bytes, 0, pumped.error->message, 0});
    if (first_error_) return;
    first_error_ = pumped.error;
    // A reader knows the place in its bytes, not the name of the file.
    std::string& context = first_error_->context;
    if (context.find(path.string()) == std::string::npos)
      context = path.string() + (context.empty() ? "" : ", " + context);
  }

  void tell(std::uint64_t bytes) {
    bytes_read_ += bytes;
    if (options_.progress) options_.progress({bytes_read_, bytes_total_, sink_.events});
  }

  CountingSink sink_;
  DamageReport& damage_;
  const ReadOptions& options_;
  std::vector<std::byte> buffer_;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_total_ = 0;
  std::optional<Error> first_error_;
  const Format* used_ = nullptr;
};

/// Whether anyone misses a point of the series. Counters and times begin again wherever training does.
bool is_figure(const Series& series) {
  constexpr std::array kOthers = {Role::epoch,       Role::step_time,   Role::throughput,
                                  Role::utilization, Role::tokens_seen, Role::other};
  return std::find(kOthers.begin(), kOthers.end(), guess_role(series.name()).role) == kOthers.end();
}

/// Says how many points came after later steps and are in no curve: too few in a row to be a restart.
void tell_stragglers(Run& run) {
  std::uint64_t points = 0;
  const Series* most = nullptr;
  for (const Series& series : run.all_series()) {
    if (series.out_of_order() == 0 || !is_figure(series)) continue;
    points += series.out_of_order();
    if (most == nullptr || series.out_of_order() > most->out_of_order()) most = &series;
  }
  if (most == nullptr) return;
  const std::string of_most = points == most->out_of_order()
                                  ? " of " + most->name()
                                  : ", " + std::to_string(most->out_of_order()) + " of them of " + most->name() + ",";
  run.damage.add({run.sources.size() == 1 ? run.sources.front() : run.name, 0, 0,
                  std::to_string(points) + (points == 1 ? " point" : " points") + of_most +
                      " came after later steps and " + (points == 1 ? "is" : "are") + " left out",
                  0});
}

/// What is done with a run that was read to its end.
void settle(Run& run) {
  run.settle_launches();
  tell_stragglers(run);
}

}  // namespace

Result<void> read_events(FileSystem& files, const RunSource& source, EventSink& sink, DamageReport& damage,
                         const ReadOptions& options) {
  RunReader reader(sink, damage, options);
  reader.files(files, source);
  return reader.outcome(source.name);
}

Result<Run> read_run(FileSystem& files, const RunSource& source, const ReadOptions& options) {
  Run run(options.limits);
  RunReader reader(run, run.damage, options);
  reader.files(files, source);
  const auto outcome = reader.outcome(source.name);
  if (!outcome) return outcome.error();
  run.name = source.name;
  if (reader.used() != nullptr) run.format = reader.used()->id;
  for (const SourceFile& file : source.files) run.sources.push_back(file.path.string());
  settle(run);
  return run;
}

Result<Run> read_stream(ReadableFile& stream, const std::string& name, const ReadOptions& options) {
  const Format* format = nullptr;
  if (!options.format.empty()) {
    const auto named = format_by_name(options.format);
    if (!named) return named.error();
    format = *named;
  }
  Run run(options.limits);
  RunReader reader(run, run.damage, options);
  reader.stream(stream, name, format);
  const auto outcome = reader.outcome(name);
  if (!outcome) return outcome.error();
  run.name = name;
  if (reader.used() != nullptr) run.format = reader.used()->id;
  run.sources.push_back(name);
  settle(run);
  return run;
}

}  // namespace osler
