// TrainingHistory: Osler for a plain C++ training loop, without LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/diagnosis/report.h"
#include "osler/recorder/recorder.h"
#include "osler/stats/tensor_view.h"

namespace osler {

/// What a loop knows after one step. Leave out what it does not.
struct TrainingStep {
  double loss = 0;
  std::optional<double> gradient_norm;
  std::optional<double> learning_rate;
  std::optional<double> accuracy;
  std::optional<double> validation_loss;
  std::optional<double> validation_accuracy;
};

/// How a history is kept.
struct HistoryOptions {
  std::string name = "training";
  std::filesystem::path file;      ///< record into this run file while training; empty: memory alone
  std::vector<SinkPointer> sinks;  ///< and into these
  DiagnosisOptions diagnosis;
  bool flush_on_signals = false;  ///< as RecorderOptions has it
};

/// The verdict of a quick check.
struct QuickCheck {
  Status status = Status::insufficient_data;
  std::string headline;
  [[nodiscard]] bool sick() const { return status == Status::critical; }
};

/// Records a training and says what is wrong with it. May be used from several threads.
class TrainingHistory {
 public:
  /// A history that also writes where `options` says.
  static Result<TrainingHistory> open(HistoryOptions options);
  /// The history kept in a run file, to look at or to go on with; what is recorded after it goes into the file, as
  /// a new segment.
  static Result<TrainingHistory> load(const std::filesystem::path& file, DiagnosisOptions diagnosis = {});

  TrainingHistory(TrainingHistory&&) noexcept;
  TrainingHistory& operator=(TrainingHistory&&) noexcept;
  ~TrainingHistory();

  void record(std::int64_t step, const TrainingStep& values);
  /// Any other number under a name of its own.
  void record(std::int64_t step, std::string_view name, double value);

  /// Measures a layer's tensor where it lies, in one pass over its memory, with its histogram.
  Result<void> tensor(std::int64_t step, TensorKind kind, std::string_view layer, const stats::TensorView& tensor);
  /// The same for dense floats.
  void tensor(std::int64_t step, TensorKind kind, std::string_view layer, std::span<const float> values);
  void tensor(std::int64_t step, TensorKind kind, std::string_view layer, std::span<const double> values);

  /// Measures what a layer gives out, samples in the first dimension, as the monitors do: for rectifiers ("relu") also
  /// the units that stayed silent over many batches, for those that saturate ("sigmoid", "tanh") the share of saturated
  /// values, and how far the samples differ. `operation` is the layer's own: "linear", "conv2d", "relu", "gelu", ...
  void activation(std::int64_t step, std::string_view layer, std::string_view operation,
                  const stats::TensorView& output);

  void config(std::string_view key, std::string_view value);
  void layers(std::vector<LayerInfo> layers);
  void mark(Mark::Kind kind, std::int64_t step, std::string text);

  /// The full diagnosis of everything recorded so far. Fails only when the options of the diagnosis are wrong.
  [[nodiscard]] Result<Report> report();
  /// The verdict alone, cheap enough for every few steps: it looks for what must not wait (a non-finite or exploding
  /// loss or gradient) and leaves the rest to `report`.
  [[nodiscard]] Result<QuickCheck> quick_check();

  /// Writes what waits; a crash after it loses nothing recorded before it.
  Result<void> flush();
  /// Writes everything kept so far to a run file. What a long training has thinned comes as it is kept: the values at
  /// the extremes of each stretch.
  Result<void> save(const std::filesystem::path& file);
  /// Ends recording. Fine to call twice; the destructor does it too.
  Result<void> close();

  /// The recorder behind it, for what has no shortcut here.
  [[nodiscard]] Recorder& recorder();

 private:
  class Work;
  explicit TrainingHistory(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace osler
