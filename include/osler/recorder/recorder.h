// Recorder: takes in what a training tells, from any thread, and writes it to sinks behind its back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/recorder/sink.h"
#include "osler/run/event.h"
#include "osler/run/layer_info.h"
#include "osler/run/run.h"
#include "osler/stats/log_histogram.h"
#include "osler/stats/tensor_stats.h"

namespace osler {

/// What tensor of a layer a statistic was taken of. Decides the names of its series.
enum class TensorKind { gradient, weight, update, activation };

/// The name under which a tensor's histogram and, with "#statistic" behind it, its statistics are recorded:
/// "gradients/fc1.weight". guess_role understands it.
[[nodiscard]] std::string tensor_name(TensorKind kind, std::string_view layer);

/// The histogram of a tensor in the form that sinks and runs take; without a name, step and time.
[[nodiscard]] Histogram to_histogram(const stats::LogHistogram& counts, const stats::TensorStats& stats);

/// One value of many that belong to one step.
struct SeriesValue {
  SeriesId series = 0;
  double value = 0;
};

/// How a recorder works.
struct RecorderOptions {
  std::string name;                ///< display name
  double write_every_seconds = 1;  ///< how long a value waits at most before it is written
  std::size_t most_waiting =
      1'000'000;          ///< values that may wait for slow sinks before they are thinned (32 bytes each)
  RunLimits limits = {};  ///< of the live run
  /// Write what waits when the process gets SIGINT, SIGTERM or SIGHUP, or crashes with SIGSEGV, SIGBUS, SIGFPE, SIGILL
  /// or SIGABRT; then the handler that was there before has its turn. Applies to the process while any such recorder
  /// is open. Signals that are ignored stay ignored.
  bool flush_on_signals = false;
};

/// What went wrong with a sink.
struct SinkFailure {
  std::string sink;  ///< its name
  Error error;       ///< the newest
  std::uint64_t times = 0;
};

/// The live front of a run. All methods may be called from several threads at once.
///
/// Recording appends to a queue under a short lock; a thread of the recorder's own empties it about once a second into
/// the live run and the sinks. At once it does so for the first non-finite value of a series, a mark of kind `crashed`
/// or `finished`, and `flush`.
///
/// When sinks are so slow that `most_waiting` values wait, the waiting ones are thinned: of each four successive finite
/// values of a series the lowest and the highest stay. Marks, configuration and non-finite values are never thinned;
/// if they alone fill the queue, recording waits for the sinks. A mark tells that it happened.
class Recorder {
 public:
  /// Starts recording into `sinks`; none is fine and leaves the live run. The live run goes on from `resumed`, what was
  /// read of an earlier part of the training; the sinks are not told of it again.
  static Result<Recorder> open(RecorderOptions options, std::vector<SinkPointer> sinks, Run resumed = {});

  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;
  /// Closes as `close` does, without a word on failure.
  ~Recorder();

  /// The number of the series called `name`, made on first use; keep it to record without a look-up.
  SeriesId series(std::string_view name);

  /// Records a value, now. All values of one step that come in a row share their wall time.
  void record(SeriesId series, std::int64_t step, double value);
  /// Records the values of a step under one lock.
  void record(std::int64_t step, std::span<const SeriesValue> values);
  /// Records events as they are, with a wall time of their own (kNoTime: now).
  void record(std::span<const Event> events);
  /// Records a value by name: convenient, and a hash look-up slower.
  void scalar(std::int64_t step, std::string_view name, double value);

  /// Records the statistics of a layer's tensor as series named tensor_name(kind, layer) + "#norm", "#std", "#mean",
  /// "#max" (the largest magnitude), "#zero-share", "#near-zero-share", and "#nonfinite" when there is any; with non-
  /// finite elements the norm is recorded as NaN or infinity, as the tensor's own norm would be. Values are rounded
  /// to 32 bits, which is beyond what these statistics mean. With `counts`, its histogram as well.
  void tensor(std::int64_t step, TensorKind kind, std::string_view layer, const stats::TensorStats& stats,
              const stats::LogHistogram* counts = nullptr);
  /// Records a histogram under a name; its `series`, `step` and, if it has none, `wall_time` are filled in.
  void histogram(std::int64_t step, std::string_view name, Histogram histogram);

  void mark(Mark::Kind kind, std::int64_t step, std::string text);
  void config(std::string_view key, std::string_view value);
  /// The structure of the network, from input to output.
  void layers(std::vector<LayerInfo> layers);
  /// Hands a report as JSON to the sinks that keep reports.
  void report(std::int64_t step, std::string json);

  /// Shows the live run, with everything recorded before the call, to `look`; the run must not be kept. Recording goes
  /// on meanwhile, writing waits.
  void visit(const std::function<void(const Run&)>& look);

  /// Returns when everything recorded before the call is written, or with the first failure of a sink.
  Result<void> flush();
  /// Writes what waits and closes the sinks; what is recorded after it is ignored. Fine to call twice.
  Result<void> close();

  /// Sinks that have failed so far.
  [[nodiscard]] std::vector<SinkFailure> failures() const;
  /// How many values were thinned away because sinks were slow.
  [[nodiscard]] std::uint64_t thinned() const;

 private:
  class Work;
  explicit Recorder(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace osler
