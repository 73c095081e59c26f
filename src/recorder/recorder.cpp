// The recorder: a queue, a thread that empties it, a live run, and sinks.
#include "osler/recorder/recorder.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/wall_clock.h"
#include "recorder/brief_lock.h"
#include "recorder/exit_signals.h"
#include "recorder/name_book.h"
#include "recorder/tensor_series.h"
#include "recorder/waiting.h"

namespace osler {

using recording::BriefLock;
using recording::kTensorStatistics;
using recording::NameBook;
using recording::Waiting;

namespace {

constexpr std::size_t kMostHistograms = 4096;  // waiting, some 4 KB each
constexpr std::chrono::seconds kSignalPatience(2);
/// Of the time that a value may wait: the rest is for the writing itself.
constexpr double kPauseShare = 0.75;

constexpr std::size_t kTensorKinds = 4;
static_assert(static_cast<std::size_t>(TensorKind::activation) + 1 == kTensorKinds);

/// The series of the tensors of one kind, by layer.
struct TensorBook {
  using Ids = std::array<SeriesId, kTensorStatistics.size() + 1>;  ///< of the statistics and of the histogram

  NameBook layers;
  std::vector<Ids> ids;
};

}  // namespace

class Recorder::Work {
 public:
  Work(RecorderOptions options, std::vector<SinkPointer> sinks, Run run)
      : options_(std::move(options)), run_(std::move(run)), sinks_(std::move(sinks)) {
    run_.name = options_.name;
    failures_.resize(sinks_.size());
    // Written to at once: the training would have to wait for each page of it otherwise.
    waiting_.events.resize(std::min<std::size_t>(options_.most_waiting, 1 << 16));
    waiting_.events.clear();
    if (options_.flush_on_signals) signals_.emplace([this] { static_cast<void>(flush(kSignalPatience)); });
    thread_ = std::thread([this] { work(); });
  }
  ~Work() { static_cast<void>(close()); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  SeriesId series(std::string_view name) {
    const std::lock_guard lock(mutex_);
    return find_series(name);
  }
  void scalar(std::int64_t step, std::string_view name, double value) {
    std::unique_lock lock(mutex_);
    push(Event{find_series(name), step, time_of(step), value}, lock);
  }
  void record(SeriesId series, std::int64_t step, double value) {
    std::unique_lock lock(mutex_);
    push(Event{series, step, time_of(step), value}, lock);
  }
  void record(std::int64_t step, std::span<const SeriesValue> values) {
    std::unique_lock lock(mutex_);
    const double time = time_of(step);
    for (const SeriesValue& value : values) push(Event{value.series, step, time, value.value}, lock);
  }
  void record(std::span<const Event> events) {
    std::unique_lock lock(mutex_);
    for (Event event : events) {
      if (std::isnan(event.wall_time)) event.wall_time = time_of(event.step);
      push(event, lock);
    }
  }
  void tensor(std::int64_t step, TensorKind kind, std::string_view layer, const stats::TensorStats& stats,
              const stats::LogHistogram* counts);
  void histogram(std::int64_t step, std::string_view name, Histogram histogram);
  void mark(Mark mark);
  void config(std::string_view key, std::string_view value) {
    const std::lock_guard lock(mutex_);
    if (!closed_) waiting_.config.emplace_back(key, value);
  }
  void layers(std::vector<LayerInfo> layers) {
    const std::lock_guard lock(mutex_);
    if (!closed_) waiting_.layers = std::move(layers);
  }
  void report(std::int64_t step, std::string json) {
    const std::lock_guard lock(mutex_);
    if (!closed_) waiting_.reports.push_back({step, wall_seconds(), std::move(json)});
  }
  void visit(const std::function<void(const Run&)>& look) {
    const std::lock_guard lock(run_mutex_);
    drain();
    look(run_);
  }
  Result<void> flush(std::optional<std::chrono::seconds> patience = {});
  Result<void> close();
  std::vector<SinkFailure> failures() const;
  std::uint64_t thinned() const { return thinned_; }

 private:
  // All of these expect the lock on mutex_.
  SeriesId find_series(std::string_view name);
  double time_of(std::int64_t step) {
    if (step != newest_step_ || std::isnan(newest_time_)) {
      newest_step_ = step;
      newest_time_ = wall_seconds();
    }
    return newest_time_;
  }
  // Taking the lock waits for every store before it, so the memory of the next events is asked for early.
  void ask_for_memory_ahead() {
    constexpr std::size_t kAhead = 16;
    const std::size_t ahead = waiting_.events.size() + kAhead;
    if (ahead < waiting_.events.capacity()) __builtin_prefetch(waiting_.events.data() + ahead, 1);
  }
  void push(const Event& event, std::unique_lock<BriefLock>& lock) {
    if (closed_ || event.series >= was_nonfinite_.size()) return;
    waiting_.events.push_back(event);
    ask_for_memory_ahead();
    if (!std::isfinite(event.value)) [[unlikely]] {
      if (!was_nonfinite_[event.series]) wake();
      was_nonfinite_[event.series] = true;
    }
    if (waiting_.events.size() >= options_.most_waiting) [[unlikely]]
      make_room(lock);
  }
  void make_room(std::unique_lock<BriefLock>& lock);
  void push_histogram(SeriesId series, std::int64_t step, Histogram histogram);

  void wake();
  void drain();  // expects the lock on run_mutex_, as the next does
  void show(const Waiting& batch);
  void give_back(std::vector<Event> events);
  void work();
  void write_round();
  void note_failure(std::size_t sink, const Result<void>& result);

  RecorderOptions options_;

  BriefLock mutex_;  // of what the training's threads touch
  std::condition_variable_any room_;
  std::vector<Waiting> before_restart_;  // batches that a restart ended
  Waiting waiting_;
  std::vector<Event> spare_;  // empty, but with room
  NameBook ids_;
  std::vector<bool> was_nonfinite_;  // by series
  std::array<TensorBook, kTensorKinds> tensors_;
  std::int64_t newest_step_ = 0;
  double newest_time_ = kNoTime;
  bool closed_ = false;
  std::uint64_t thinned_since_mark_ = 0;
  std::atomic<std::uint64_t> thinned_ = 0;

  std::mutex run_mutex_;  // of the live run and what is on its way to the sinks; taken before mutex_
  Run run_;
  std::vector<SeriesId> run_ids_;
  std::vector<Waiting> drained_;

  std::vector<SinkPointer> sinks_;  // touched by the thread alone
  std::vector<std::string> names_;

  mutable std::mutex wake_mutex_;  // of the talk with the thread; taken last
  std::condition_variable woken_;
  std::condition_variable served_;
  bool urgent_ = false;
  bool stop_ = false;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  Result<void> newest_round_;
  std::vector<std::optional<SinkFailure>> failures_;

  std::once_flag close_once_;
  Result<void> close_result_;
  std::optional<recording::ExitSignals> signals_;
  std::thread thread_;
};

SeriesId Recorder::Work::find_series(std::string_view name) {
  const NameBook::Entry entry = ids_.enter(name);
  if (entry.fresh) {
    was_nonfinite_.push_back(false);
    waiting_.new_names.emplace_back(name);
  }
  return entry.number;
}

/// Sinks are slow: thins what waits, and when that does not help because all of it must stay, waits for them.
void Recorder::Work::make_room(std::unique_lock<BriefLock>& lock) {
  const std::size_t gone = recording::thin_events(waiting_.events);
  thinned_ += gone;
  thinned_since_mark_ += gone;
  wake();
  if (waiting_.events.size() <= options_.most_waiting / 4 * 3) return;
  room_.wait(lock, [&] { return closed_ || waiting_.events.size() <= options_.most_waiting / 2; });
}

void Recorder::Work::push_histogram(SeriesId series, std::int64_t step, Histogram histogram) {
  if (closed_) return;
  histogram.series = series;
  histogram.step = step;
  if (std::isnan(histogram.wall_time)) histogram.wall_time = time_of(step);
  waiting_.histograms.push_back(std::move(histogram));
  if (waiting_.histograms.size() >= kMostHistograms) recording::thin_histograms(waiting_.histograms);
}

void Recorder::Work::tensor(std::int64_t step, TensorKind kind, std::string_view layer, const stats::TensorStats& stats,
                            const stats::LogHistogram* counts) {
  const auto values = recording::tensor_values(stats);
  std::optional<Histogram> histogram;
  if (counts != nullptr && stats.finite_count() > 0) histogram = to_histogram(*counts, stats);
  std::unique_lock lock(mutex_);
  TensorBook& book = tensors_[static_cast<std::size_t>(kind)];
  const NameBook::Entry entry = book.layers.enter(layer);
  if (entry.fresh) {
    const std::string name = tensor_name(kind, layer);
    TensorBook::Ids& ids = book.ids.emplace_back();
    for (std::size_t i = 0; i < kTensorStatistics.size(); ++i) {
      ids[i] = find_series(fmt::format("{}#{}", name, kTensorStatistics[i]));
    }
    ids.back() = find_series(name);
  }
  const auto ids = book.ids[entry.number];  // a copy: waiting for room lets go of the lock
  if (histogram) push_histogram(ids.back(), step, std::move(*histogram));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == recording::kNonfiniteStatistic && values[i] == 0) continue;
    push(Event{ids[i], step, time_of(step), values[i]}, lock);
  }
}

void Recorder::Work::histogram(std::int64_t step, std::string_view name, Histogram histogram) {
  const std::lock_guard lock(mutex_);
  push_histogram(find_series(name), step, std::move(histogram));
}

void Recorder::Work::mark(Mark mark) {
  const bool urgent = mark.kind == Mark::Kind::crashed || mark.kind == Mark::Kind::finished;
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (std::isnan(mark.wall_time)) mark.wall_time = wall_seconds();
  if (mark.kind == Mark::Kind::restart) {
    before_restart_.push_back(std::exchange(waiting_, {}));
    waiting_.restarts = true;
  }
  waiting_.marks.push_back(std::move(mark));
  if (urgent) wake();
}

void Recorder::Work::wake() {
  const std::lock_guard lock(wake_mutex_);
  urgent_ = true;
  woken_.notify_one();
}

/// Moves what waits into the live run and on towards the sinks.
void Recorder::Work::drain() {
  std::vector<Waiting> taken;
  std::uint64_t gone = 0;
  {
    const std::lock_guard lock(mutex_);
    std::swap(taken, before_restart_);
    taken.push_back(std::exchange(waiting_, {}));
    waiting_.events.swap(spare_);
    std::swap(gone, thinned_since_mark_);
  }
  room_.notify_all();
  if (gone > 0) {
    const std::int64_t step = taken.back().events.empty() ? 0 : taken.back().events.back().step;
    taken.back().marks.push_back({Mark::Kind::note, step, wall_seconds(),
                                  fmt::format("writing was too slow: {} values were thinned, extremes stay", gone)});
  }
  for (Waiting& batch : taken) {
    show(batch);
    if (sinks_.empty()) {
      give_back(std::move(batch.events));
      continue;
    }
    if (drained_.empty() || batch.restarts) {
      drained_.push_back(std::move(batch));
    } else {
      drained_.back().append(std::move(batch));
    }
    Waiting& newest = drained_.back();
    if (newest.events.size() > options_.most_waiting) thinned_ += recording::thin_events(newest.events);
    if (newest.histograms.size() > kMostHistograms) recording::thin_histograms(newest.histograms);
  }
}

/// Memory that was written to before costs the training thread nothing; fresh memory costs it a page fault for each
/// page.
void Recorder::Work::give_back(std::vector<Event> events) {
  events.clear();
  const std::lock_guard lock(mutex_);
  if (events.capacity() > waiting_.events.capacity() && waiting_.events.empty()) {
    waiting_.events.swap(events);
  } else if (events.capacity() > spare_.capacity()) {
    spare_.swap(events);
  }
}

/// Tells a batch to the live run.
void Recorder::Work::show(const Waiting& batch) {
  for (const std::string& name : batch.new_names) run_ids_.push_back(run_.series(name));
  for (const auto& [key, value] : batch.config) run_.config(key, value);
  for (const Mark& mark : batch.marks) run_.add(mark);
  for (Histogram histogram : batch.histograms) {
    histogram.series = run_ids_[histogram.series];
    run_.distribution(histogram);
  }
  for (Event event : batch.events) {
    event.series = run_ids_[event.series];
    run_.add(event);
  }
}

void Recorder::Work::note_failure(std::size_t sink, const Result<void>& result) {
  if (result) return;
  const std::lock_guard lock(wake_mutex_);
  auto& failure = failures_[sink];
  if (!failure) failure = SinkFailure{sinks_[sink]->name(), {}, 0};
  failure->error = result.error();
  ++failure->times;
  if (newest_round_) newest_round_ = result;
}

void Recorder::Work::write_round() {
  std::vector<Waiting> batches;
  {
    const std::lock_guard lock(run_mutex_);
    drain();
    std::swap(batches, drained_);
  }
  {
    const std::lock_guard lock(wake_mutex_);
    newest_round_ = {};
  }
  const std::vector<LayerInfo> none;
  for (Waiting& batch : batches) {
    names_.insert(names_.end(), batch.new_names.begin(), batch.new_names.end());
    const RecordBatch record{names_,      batch.config,     batch.layers ? *batch.layers : none,
                             batch.marks, batch.histograms, batch.events};
    // Also when nothing is new: a sink that failed wants another chance.
    for (std::size_t i = 0; i < sinks_.size(); ++i) {
      note_failure(i, sinks_[i]->write(record));
      for (const auto& report : batch.reports) {
        note_failure(i, sinks_[i]->report(report.step, report.wall_time, report.json));
      }
    }
    give_back(std::move(batch.events));
  }
}

void Recorder::Work::work() {
  const auto pause = std::chrono::duration<double>(kPauseShare * options_.write_every_seconds);
  for (bool last = false; !last;) {
    std::uint64_t asked = 0;
    {
      std::unique_lock lock(wake_mutex_);
      woken_.wait_for(lock, pause, [&] { return urgent_ || stop_ || asked_ > answered_; });
      urgent_ = false;
      last = stop_;
      asked = asked_;
    }
    write_round();
    const std::lock_guard lock(wake_mutex_);
    answered_ = asked;
    served_.notify_all();
  }
  for (std::size_t i = 0; i < sinks_.size(); ++i) note_failure(i, sinks_[i]->close());
}

Result<void> Recorder::Work::flush(std::optional<std::chrono::seconds> patience) {
  std::unique_lock lock(wake_mutex_);
  if (stop_) return {};
  const std::uint64_t mine = ++asked_;
  woken_.notify_one();
  const auto served = [&] { return answered_ >= mine || stop_; };
  if (patience) {
    served_.wait_for(lock, *patience, served);
  } else {
    served_.wait(lock, served);
  }
  return newest_round_;
}

Result<void> Recorder::Work::close() {
  std::call_once(close_once_, [this] {
    signals_.reset();
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    room_.notify_all();
    {
      const std::lock_guard lock(wake_mutex_);
      stop_ = true;
    }
    woken_.notify_one();
    served_.notify_all();
    thread_.join();
    close_result_ = newest_round_;
  });
  return close_result_;
}

std::vector<SinkFailure> Recorder::Work::failures() const {
  const std::lock_guard lock(wake_mutex_);
  std::vector<SinkFailure> found;
  for (const auto& failure : failures_) {
    if (failure) found.push_back(*failure);
  }
  return found;
}

Recorder::Recorder(std::unique_ptr<Work> work) : work_(std::move(work)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;
Recorder::~Recorder() = default;

Result<Recorder> Recorder::open(RecorderOptions options, std::vector<SinkPointer> sinks, Run resumed) {
  if (!(options.write_every_seconds > 0)) {
    return Error{ErrorCode::invalid_argument, "write_every_seconds must be above zero", options.name};
  }
  if (options.most_waiting < 16) {
    return Error{ErrorCode::invalid_argument, "most_waiting must be at least 16", options.name};
  }
  if (resumed.all_series().empty()) resumed = Run(options.limits);
  return Recorder(std::make_unique<Work>(std::move(options), std::move(sinks), std::move(resumed)));
}

SeriesId Recorder::series(std::string_view name) {
  return work_->series(name);
}
void Recorder::record(SeriesId series, std::int64_t step, double value) {
  work_->record(series, step, value);
}
void Recorder::record(std::int64_t step, std::span<const SeriesValue> values) {
  work_->record(step, values);
}
void Recorder::record(std::span<const Event> events) {
  work_->record(events);
}
void Recorder::scalar(std::int64_t step, std::string_view name, double value) {
  work_->scalar(step, name, value);
}
void Recorder::tensor(std::int64_t step, TensorKind kind, std::string_view layer, const stats::TensorStats& stats,
                      const stats::LogHistogram* counts) {
  work_->tensor(step, kind, layer, stats, counts);
}
void Recorder::histogram(std::int64_t step, std::string_view name, Histogram histogram) {
  work_->histogram(step, name, std::move(histogram));
}
void Recorder::mark(Mark::Kind kind, std::int64_t step, std::string text) {
  work_->mark(Mark{kind, step, kNoTime, std::move(text)});
}
void Recorder::config(std::string_view key, std::string_view value) {
  work_->config(key, value);
}
void Recorder::layers(std::vector<LayerInfo> layers) {
  work_->layers(std::move(layers));
}
void Recorder::report(std::int64_t step, std::string json) {
  work_->report(step, std::move(json));
}
void Recorder::visit(const std::function<void(const Run&)>& look) {
  work_->visit(look);
}
Result<void> Recorder::flush() {
  return work_->flush();
}
Result<void> Recorder::close() {
  return work_->close();
}
std::vector<SinkFailure> Recorder::failures() const {
  return work_->failures();
}
std::uint64_t Recorder::thinned() const {
  return work_->thinned();
}

}  // namespace osler
