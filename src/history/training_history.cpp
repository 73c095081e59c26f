// A training's history: a recorder, an engine for its tensors, and the diagnosis of what was recorded.
#include "osler/history/training_history.h"

#include <mutex>

#include "history/kept_points.h"
#include "monitor/activation_ledger.h"
#include "osler/report/render.h"
#include "osler/runfile/reader.h"
#include "osler/runfile/writer.h"
#include "osler/stats/engine.h"

namespace osler {
namespace {

/// What must not wait for a full report: a training that shows one of these is lost, or will be soon.
const std::vector<std::string>& urgent_findings() {
  static const std::vector<std::string> ids = {"exploding-gradients", "gradient-nonfinite", "loss-diverging",
                                               "loss-nonfinite-at-start", "loss-nonfinite-later"};
  return ids;
}

}  // namespace

class TrainingHistory::Work {
 public:
  Work(Recorder recorder, DiagnosisOptions diagnosis, std::filesystem::path file)
      : recorder_(std::move(recorder)),
        diagnosis_(std::move(diagnosis)),
        file_(std::move(file)),
        loss_(recorder_.series("train/loss")),
        engine_(stats::make_cpu_engine(0)) {}

  void record(std::int64_t step, const TrainingStep& values) {
    recorder_.record(loss_, step, values.loss);
    const auto put = [&](const char* name, const std::optional<double>& value) {
      if (value) recorder_.scalar(step, name, *value);
    };
    put("gradient_norm", values.gradient_norm);
    put("learning_rate", values.learning_rate);
    put("train/accuracy", values.accuracy);
    put("validation/loss", values.validation_loss);
    put("validation/accuracy", values.validation_accuracy);
  }

  Result<void> tensor(std::int64_t step, TensorKind kind, std::string_view layer, const stats::TensorView& tensor) {
    const std::lock_guard lock(tensor_mutex_);
    stats::SummaryOptions options;
    options.histogram = true;
    batch_.clear();
    const std::size_t number = batch_.summarize(tensor, options);
    if (const auto submitted = engine_->submit(batch_); !submitted) return submitted.error();
    engine_->wait(batch_);
    recorder_.tensor(step, kind, layer, batch_.summary(number), &batch_.histogram(number));
    return {};
  }

  void activation(std::int64_t step, std::string_view layer, std::string_view operation,
                  const stats::TensorView& output) {
    const std::lock_guard lock(tensor_mutex_);
    activations_.measure(std::string(layer), operation, output);
    activations_.record(recorder_, step);
  }

  Result<Report> report() {
    auto report = examine(diagnosis_);
    if (report) recorder_.report(report->steps.last, render_json(*report));
    return report;
  }

  Result<QuickCheck> quick_check() {
    DiagnosisOptions options = diagnosis_;
    if (options.only.empty()) options.only = urgent_findings();
    const auto report = examine(options);
    if (!report) return report.error();
    return QuickCheck{report->status, report->headline};
  }

  Result<void> save(const std::filesystem::path& file) {
    auto writer = RunFileWriter::open(file);
    if (!writer) return writer.error();
    if (!file_.empty()) return copy_file(*writer);
    recorder_.visit([&](const Run& run) { tell_kept_points(run, *writer); });
    return writer->close();
  }

  Recorder recorder_;

 private:
  Result<Report> examine(const DiagnosisOptions& options) {
    Result<Report> report = Error{ErrorCode::internal, "the run was not shown", {}};
    recorder_.visit([&](const Run& run) { report = diagnose(run, options); });
    return report;
  }

  /// Every point is in the file it was recorded into.
  Result<void> copy_file(RunFileWriter& writer) {
    if (const auto flushed = recorder_.flush(); !flushed) return flushed.error();
    auto reader = RunFileReader::open(file_);
    if (!reader) return reader.error();
    if (const auto read = reader->read_events(writer); !read) return read.error();
    return writer.close();
  }

  DiagnosisOptions diagnosis_;
  std::filesystem::path file_;
  SeriesId loss_;
  std::mutex tensor_mutex_;
  std::unique_ptr<stats::Engine> engine_;
  stats::Batch batch_;
  monitor::ActivationLedger activations_;
};

TrainingHistory::TrainingHistory(std::unique_ptr<Work> work) : work_(std::move(work)) {}
TrainingHistory::TrainingHistory(TrainingHistory&&) noexcept = default;
TrainingHistory& TrainingHistory::operator=(TrainingHistory&&) noexcept = default;
TrainingHistory::~TrainingHistory() = default;

Result<TrainingHistory> TrainingHistory::open(HistoryOptions options) {
  if (!options.file.empty()) {
    auto sink = run_file_sink(options.file, options.name);
    if (!sink) return sink.error();
    options.sinks.push_back(std::move(*sink));
  }
  RecorderOptions recording;
  recording.name = options.name;
  recording.flush_on_signals = options.flush_on_signals;
  auto recorder = Recorder::open(std::move(recording), std::move(options.sinks));
  if (!recorder) return recorder.error();
  return TrainingHistory(
      std::make_unique<Work>(std::move(*recorder), std::move(options.diagnosis), std::move(options.file)));
}

Result<TrainingHistory> TrainingHistory::load(const std::filesystem::path& file, DiagnosisOptions diagnosis) {
  auto run = read_run_file(file);
  if (!run) return run.error();
  auto sink = run_file_sink(file);
  if (!sink) return sink.error();
  std::vector<SinkPointer> sinks;
  sinks.push_back(std::move(*sink));
  RecorderOptions recording;
  recording.name = run->name;
  auto recorder = Recorder::open(std::move(recording), std::move(sinks), std::move(*run));
  if (!recorder) return recorder.error();
  return TrainingHistory(std::make_unique<Work>(std::move(*recorder), std::move(diagnosis), file));
}

void TrainingHistory::record(std::int64_t step, const TrainingStep& values) {
  work_->record(step, values);
}
void TrainingHistory::record(std::int64_t step, std::string_view name, double value) {
  work_->recorder_.scalar(step, name, value);
}
Result<void> TrainingHistory::tensor(std::int64_t step, TensorKind kind, std::string_view layer,
                                     const stats::TensorView& tensor) {
  return work_->tensor(step, kind, layer, tensor);
}
void TrainingHistory::tensor(std::int64_t step, TensorKind kind, std::string_view layer,
                             std::span<const float> values) {
  // Host memory is what the engine serves: this cannot fail.
  static_cast<void>(work_->tensor(step, kind, layer, stats::TensorView::of(values)));
}
void TrainingHistory::tensor(std::int64_t step, TensorKind kind, std::string_view layer,
                             std::span<const double> values) {
  static_cast<void>(work_->tensor(step, kind, layer, stats::TensorView::of(values)));
}
void TrainingHistory::activation(std::int64_t step, std::string_view layer, std::string_view operation,
                                 const stats::TensorView& output) {
  work_->activation(step, layer, operation, output);
}

void TrainingHistory::config(std::string_view key, std::string_view value) {
  work_->recorder_.config(key, value);
}
void TrainingHistory::layers(std::vector<LayerInfo> layers) {
  work_->recorder_.layers(std::move(layers));
}
void TrainingHistory::mark(Mark::Kind kind, std::int64_t step, std::string text) {
  work_->recorder_.mark(kind, step, std::move(text));
}
Result<Report> TrainingHistory::report() {
  return work_->report();
}
Result<QuickCheck> TrainingHistory::quick_check() {
  return work_->quick_check();
}
Result<void> TrainingHistory::flush() {
  return work_->recorder_.flush();
}
Result<void> TrainingHistory::save(const std::filesystem::path& file) {
  return work_->save(file);
}
Result<void> TrainingHistory::close() {
  return work_->recorder_.close();
}
Recorder& TrainingHistory::recorder() {
  return work_->recorder_;
}

}  // namespace osler
