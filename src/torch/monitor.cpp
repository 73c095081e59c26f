// Monitor: checks its arguments and forwards every call to Monitor::Work.
#include "osler/torch/monitor.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <unordered_set>

#include "monitor/step_watch.h"
#include "run/series_names.h"
#include "torch/monitor_work.h"

namespace osler::torch {
namespace {

void require_belonging(const ::torch::nn::Module& model, const ::torch::optim::Optimizer& optimizer) {
  const std::vector<at::Tensor> parameters = model.parameters();
  if (parameters.empty()) {
    throw std::invalid_argument("osler: the model has no parameters; register its layers with register_module");
  }
  std::unordered_set<const void*> own;
  for (const at::Tensor& parameter : parameters) own.insert(parameter.unsafeGetTensorImpl());
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (own.contains(parameter.unsafeGetTensorImpl())) return;
    }
  }
  throw std::invalid_argument("osler: the optimizer holds no parameter of this model; was it made for another one?");
}

/// Numbers that mean nothing are refused here, where the user sees them, and not noticed by what they do to a training.
void require_sound(const MonitorOptions& options) {
  monitor::WatchOptions watch;
  watch.first_step = options.first_step;
  watch.budget = options.budget;
  watch.statistics_every = options.statistics_every;
  watch.trace_every = options.trace_every;
  watch.batches_every = options.batches_every;
  watch.diagnose_every = options.diagnose_every;
  watch.histograms_every = options.histograms_every;
  watch.line_every = options.line_every;
  watch.classes = options.classes;
  watch.batch_size = options.batch_size;
  std::string fault = monitor::fault_of(watch);
  const auto require_positive = [&](const char* name, const std::optional<double>& limit) {
    if (!fault.empty() || !limit || (std::isfinite(*limit) && *limit > 0)) return;
    fault =
        fmt::format("{} is {:.6g}: write a limit above 0, such as 1, or leave it out for no clipping", name, *limit);
  };
  require_positive("clip_norm", options.clip_norm);
  require_positive("clip_value", options.clip_value);
  require_positive("clip_adaptive", options.clip_adaptive);
  if (fault.empty() && options.ranks_every < 0) {
    fault = fmt::format("ranks_every is {}: write a number of steps, or 0 for never", options.ranks_every);
  }
  if (!fault.empty()) throw std::invalid_argument("osler: " + fault);
}

Recorder opened(MonitorOptions& options) {
  std::vector<SinkPointer> sinks = std::move(options.sinks);
  options.sinks.clear();
  if (!options.run_file.empty()) {
    Result<SinkPointer> sink = run_file_sink(options.run_file, options.name);
    if (!sink) throw std::invalid_argument("osler: " + describe(sink.error()));
    sinks.push_back(std::move(*sink));
  }
  RecorderOptions recording;
  recording.name = options.name;
  Result<Recorder> recorder = Recorder::open(recording, std::move(sinks));
  if (!recorder) throw std::invalid_argument("osler: " + describe(recorder.error()));
  return std::move(*recorder);
}

}  // namespace

double StepTimes::monitor_share() const {
  const double rest = data + forward + backward + optimizer + other;
  return rest > 0 ? monitor / rest : 0;
}

Monitor::Monitor(::torch::nn::Module& model, ::torch::optim::Optimizer& optimizer, MonitorOptions options) {
  require_belonging(model, optimizer);
  require_sound(options);
  Recorder recorder = opened(options);
  work_ = std::make_unique<Work>(model, optimizer, std::move(options), std::move(recorder));
}

Monitor::Monitor(Monitor&&) noexcept = default;
Monitor& Monitor::operator=(Monitor&&) noexcept = default;

Monitor::~Monitor() {
  // Whoever wants to know whether the last values were written calls close().
  if (work_) static_cast<void>(work_->close());
}

bool Monitor::step(const at::Tensor& loss) {
  return work_->step(loss);
}

bool Monitor::train_step(const std::function<at::Tensor()>& compute_loss) {
  return work_->train_step(compute_loss);
}

void Monitor::replay_with(std::function<at::Tensor()> compute_loss) {
  work_->replay_with(std::move(compute_loss));
}

void Monitor::await_batch() {
  work_->await_batch();
}

void Monitor::batch_ready() {
  work_->batch_ready();
}

std::optional<BatchReport> Monitor::batch(const at::Tensor& inputs, const at::Tensor& labels) {
  return work_->batch(inputs, labels);
}

void Monitor::log(std::string_view name, double value) {
  work_->log(name, value);
}

void Monitor::validation_batch(const at::Tensor& output) {
  work_->validation_batch(output);
}

void Monitor::validation(double loss, const std::vector<std::pair<std::string, double>>& metrics) {
  work_->validation(loss, metrics);
}

void Monitor::epoch(std::int64_t number) {
  work_->epoch(number);
}

void Monitor::note(std::string_view text) {
  work_->note(text);
}

void Monitor::checkpoint(bool with_scheduler) {
  work_->check(series_name::kCheckSchedulerNotCheckpointed, with_scheduler ? 0 : 1);
}

void Monitor::split_overlap(double share) {
  work_->check(series_name::kCheckSplitOverlap, share);
}

void Monitor::validation_changes(double share) {
  work_->check(series_name::kCheckValidationAugmented, share);
}

void Monitor::config(std::string_view key, std::string_view value) {
  work_->config(key, value);
}

void Monitor::experiment(const Experiment& experiment) {
  Experiment told = experiment;
  if (told.step == 0) told.step = work_->steps;
  work_->config(experiment_key(told.probe), to_json(told));
}

Report Monitor::report() {
  return work_->report();
}

LayerTable Monitor::layers() {
  return work_->report(/*layers=*/true).layers.value_or(LayerTable{});
}

std::vector<std::string> Monitor::quick_check() const {
  return work_->quick_check();
}

std::string Monitor::summary() {
  return work_->summary();
}

std::int64_t Monitor::steps() const {
  return work_->steps;
}

std::int64_t Monitor::skipped() const {
  return work_->skipped;
}

StepTimes Monitor::times() const {
  return work_->times;
}

double Monitor::clipped_share() const {
  return work_->clipped_share();
}

std::optional<double> Monitor::gradient_norm() const {
  return work_->gradient_norm;
}

const std::optional<NonfiniteOrigin>& Monitor::origin() const {
  return work_->origin;
}

Result<void> Monitor::close() {
  return work_->close();
}

}  // namespace osler::torch
