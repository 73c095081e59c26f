// Entry: one run of the library: where its files are, and what of it is held in memory.
#include "server/entry.h"

#include <algorithm>
#include <cmath>
#include <system_error>

#include "base/wall_clock.h"
#include "osler/diagnosis/diagnose.h"

namespace osler::server {
namespace {

// After an examination that took t, the next one of the same run waits at least kRest * t: live runs, however many and
// long, then take at most a tenth of a core each.
constexpr int kRest = 10;
// A file that was not written to for so long has a last line even where it has no line end.
constexpr double kStill = 10;
// A run that was not written to for so long is a finished log, and that it stands still says nothing.
constexpr double kOld = 86'400;

RunLimits limits_of_one() {
  RunLimits limits;
  limits.buckets_in_all = 400'000;  // 55 MB: two may be read at once beside those that are held
  limits.recent_in_all = 500'000;
  limits.histograms.bins_in_all = 400'000;
  return limits;
}

/// What a run takes in memory. Of many series each keeps fewer points, as the limits say.
std::size_t estimated_bytes(const Run& run) {
  const RunLimits limits = limits_of_one();
  const SummaryLimits most;
  const std::size_t count = std::max<std::size_t>(run.all_series().size(), 1);
  const std::size_t buckets = std::clamp(limits.buckets_in_all / count, limits.fewest_buckets, most.buckets);
  const std::size_t recent = std::clamp<std::size_t>(limits.recent_in_all / count, 1, most.recent);
  std::size_t bytes = 1U << 17U;
  for (const Series& series : run.all_series()) {
    const std::uint64_t points = series.summary().points();
    bytes += sizeof(Series) + series.name().size() + std::min<std::uint64_t>(points, buckets) * sizeof(Bucket) +
             std::min<std::uint64_t>(points, recent) * sizeof(Point);
  }
  for (const auto& [id, histograms] : run.histograms()) {
    for (const Histogram& histogram : histograms) bytes += histogram.limits.size() * 2 * sizeof(double);
  }
  return bytes;
}

bool is_over(const Run& run) {
  return std::any_of(run.marks().begin(), run.marks().end(), [](const Mark& mark) {
    return mark.kind == Mark::Kind::finished || mark.kind == Mark::Kind::crashed;
  });
}

/// The wall time of the newest point; NaN when the log does not tell.
double newest_time(const Run& run) {
  double newest = kNoTime;
  for (const Series& series : run.all_series()) {
    if (const auto total = series.summary().total()) newest = std::fmax(newest, total->last_time);
  }
  return newest;
}

}  // namespace

bool lies_in(const std::filesystem::path& path, const std::filesystem::path& real_root) {
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::canonical(path, failure);
  if (failure) return false;
  return std::mismatch(real_root.begin(), real_root.end(), real.begin(), real.end()).first == real_root.end();
}

std::vector<Entry::Path> Entry::paths() const {
  if (!run_file.empty()) return {run_file, Path(run_file.string() + "-wal")};
  std::vector<Path> paths;
  for (const SourceFile& file : source.files) paths.push_back(file.path);
  return paths;
}

Entry::Stamp Entry::stamp(FileSystem& files) const {
  Stamp stamp;
  for (const Path& path : paths()) {
    const auto info = files.info(path);
    if (!info) continue;
    stamp.bytes += info->size_bytes;
    stamp.modified = std::max(stamp.modified, info->modified_seconds);
  }
  return stamp;
}

bool Entry::is_inside() const {
  const auto all = paths();
  return std::all_of(all.begin(), all.end(), [this](const Path& path) {
    std::error_code failure;
    return !std::filesystem::exists(std::filesystem::symlink_status(path, failure)) || lies_in(path, real_root);
  });
}

/// Both the files and what stands in them must be recent: a copy of an old log has new files.
bool Entry::may_be_alive(const Stamp& now, double wall) const {
  return !over_ && wall - now.modified < kOld && wall - newest_ < kOld;
}

bool Entry::is_due(const Stamp& now) const {
  if (!examined) return true;
  if (Clock::now() < not_before_) return false;
  if (now != read_stamp) return true;
  const double wall = wall_seconds();
  const double still = wall - now.modified;
  if (still_at_read_ < kStill) return still >= kStill;
  // A live run that has gone silent is examined again each time the silence has doubled.
  return may_be_alive(now, wall) && still >= 2 * still_at_read_;
}

bool Entry::is_fresh(const Stamp& now) const {
  return report && (now == read_stamp || Clock::now() < not_before_);
}

Result<void> Entry::read_files(FileSystem& files, bool still) {
  if (!run_file.empty()) {
    auto run = read_run_file(run_file, limits_of_one());
    if (!run) return run.error();
    file_run = std::move(*run);
    return {};
  }
  ReadOptions options;
  options.limits = limits_of_one();
  if (!log) {
    log.emplace(source, options);
    closed_.reset();
  }
  log->read_new(files);
  const Stamp after = stamp(files);
  if (still && closed_ != after) {
    log->finish();
    closed_ = after;
  }
  return {};
}

Result<void> Entry::read(FileSystem& files, const Stamp& now, DiagnosisOptions options) {
  const auto start = Clock::now();
  const double wall = wall_seconds();
  const double still = wall - now.modified;
  if (const auto done = read_files(files, still >= kStill); !done) return done.error();
  over_ = is_over(run());
  newest_ = newest_time(run());
  if (may_be_alive(now, wall)) options.now = wall;
  auto examination = diagnose(run(), options);
  if (!examination) return examination.error();
  report = std::move(*examination);
  drop_answers();
  read_stamp = now;
  still_at_read_ = still;
  examined = true;
  held_bytes = estimated_bytes(run());
  reading_took = Clock::now() - start;
  not_before_ = Clock::now() + kRest * reading_took;
  return {};
}

void Entry::give_up(const Stamp& now) {
  drop_run();
  drop_answers();
  examined = true;
  read_stamp = now;
  still_at_read_ = std::max(kStill, wall_seconds() - now.modified);
  over_ = true;
}

void Entry::set_source(const RunSource& found) {
  const auto same = [](const SourceFile& a, const SourceFile& b) { return a.path == b.path && a.format == b.format; };
  if (std::equal(source.files.begin(), source.files.end(), found.files.begin(), found.files.end(), same)) return;
  source = found;
  if (log) log->set_source(found);
}

void Entry::drop_run() {
  log.reset();
  file_run.reset();
  report.reset();
  held_bytes = 0;
}

Entry::Text Entry::kept_answer(std::size_t which) const {
  const std::lock_guard lock(answers_mutex_);
  return answers_.at(which);
}

void Entry::keep_answer(std::size_t which, Text answer) {
  const std::lock_guard lock(answers_mutex_);
  answer_bytes += answer->size();
  answers_.at(which) = std::move(answer);
}

void Entry::drop_answers() {
  const std::lock_guard lock(answers_mutex_);
  answers_ = {};
  answer_bytes = 0;
}

}  // namespace osler::server
