// The steps of a training: batches, gradients, the guard against NaN, validation.
#include "torch/train_loop.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "monitor/clock.h"
#include "run/series_names.h"

namespace osler::torch {

using monitor::now;
namespace {

/// Evaluation mode without a graph, and everything as before when it is over, also after an exception.
class Evaluation {
 public:
  explicit Evaluation(::torch::nn::Module& model) : modes_(model), random_(RandomState::now(model.parameters())) {
    model.eval();
  }
  ~Evaluation() {
    modes_.restore();
    random_.restore();
  }
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

 private:
  ModuleModes modes_;
  RandomState random_;
  at::NoGradGuard no_graph_;
};

std::int64_t samples_in(const Batch& batch) {
  return batch.inputs.dim() > 0 ? batch.inputs.size(0) : 1;
}

/// Sums of named numbers, in the order in which they came first.
void add(std::vector<std::pair<std::string, double>>& sums, const std::vector<std::pair<std::string, double>>& more,
         double weight) {
  for (const auto& [name, value] : more) {
    std::size_t i = 0;
    while (i < sums.size() && sums[i].first != name) ++i;
    if (i == sums.size()) sums.emplace_back(name, 0);
    sums[i].second += weight * value;
  }
}

::torch::nn::Module& in_training_mode(::torch::nn::Module& model) {
  if (!model.is_training()) model.train();
  return model;
}

}  // namespace

TrainLoop::TrainLoop(const Training& training, const Loader& data, const Loader* validation, TrainOptions options)
    : training_(training),
      data_(data),
      validation_(validation),
      options_(std::move(options)),
      parameters_(training.model.parameters()),
      steps_per_epoch_((data.batches + options_.accumulate - 1) / options_.accumulate),
      modes_(in_training_mode(training.model)),
      scheduler_(training.optimizer, options_.schedule) {
  if (options_.loss_scale) loss_scale_.emplace(*options_.loss_scale);
  counts_.loss = std::nan("");
}

TrainResult TrainLoop::run() {
  if (!options_.checkpoint.empty() && options_.resume) resume();
  open_monitor();
  keep_good();
  first_step_ = counts_.step;
  began_ = told_ = now();
  TrainResult result;
  result.end = follow();
  tell_progress(true);
  if (options_.keep_best) put_best_back();
  result.steps = counts_.step;
  result.epochs = counts_.epoch;
  result.resumed = resumed_;
  result.loss = counts_.loss;
  result.validation_loss = counts_.validation_loss;
  result.best_validation_loss = counts_.best_loss;
  result.best_step = counts_.best_step;
  result.skipped = counts_.skipped;
  result.overflows = loss_scale_ ? loss_scale_->state().overflows : 0;
  // The last one is not gone back on: the training is given up.
  result.roll_backs = std::min(counts_.roll_backs, options_.roll_back.most);
  result.checkpoint_error = checkpoint_error_;
  result.report = monitor_->report();
  // Lost values of a sink are told by its own error; the training itself went well.
  static_cast<void>(monitor_->close());
  return result;
}

void TrainLoop::open_monitor() {
  MonitorOptions watching = std::move(options_.monitor);
  watching.first_step = counts_.monitored;
  monitor_.emplace(training_.model, training_.optimizer, std::move(watching));
  monitor_->config("schedule", options_.schedule.description());
  if (options_.accumulate > 1) monitor_->config("gradient_accumulation_steps", std::to_string(options_.accumulate));
  monitor_->replay_with([this] { return whole_loss(); });
}

TrainEnd TrainLoop::follow() {
  if (counts_.ended_early) return TrainEnd::no_gain;
  while (counts_.epoch < options_.epochs) {
    while (counts_.in_epoch < steps_per_epoch_) {
      step();
      if (const auto end = after_step()) return *end;
    }
    if (const auto end = finish_epoch()) return *end;
  }
  return TrainEnd::finished;
}

std::optional<TrainEnd> TrainLoop::after_step() {
  if (lost()) return TrainEnd::lost;
  const auto due = [&](std::int64_t every) { return every > 0 && counts_.step % every == 0; };
  if (validation_ && due(options_.validate_every)) counts_.ended_early = validate();
  if (due(options_.checkpoint_every) || counts_.ended_early) save();
  tell_progress(false);
  if (counts_.ended_early) return TrainEnd::no_gain;
  if (!options_.stop.stop_requested()) return std::nullopt;
  if (!due(options_.checkpoint_every)) save();
  return TrainEnd::stopped;
}

std::optional<TrainEnd> TrainLoop::finish_epoch() {
  monitor_->epoch(counts_.epoch);
  if (validation_ && options_.validate_every == 0) counts_.ended_early = validate();
  ++counts_.epoch;
  counts_.in_epoch = 0;
  if (options_.checkpoint_every == 0 || counts_.epoch == options_.epochs || counts_.ended_early) save();
  return counts_.ended_early ? std::optional(TrainEnd::no_gain) : std::nullopt;
}

// ---- One step.

void TrainLoop::draw() {
  batches_.clear();
  shares_.clear();
  const std::int64_t begin = counts_.in_epoch * options_.accumulate;
  const std::int64_t end = std::min(begin + options_.accumulate, data_.batches);
  double samples = 0;
  monitor_->await_batch();
  for (std::int64_t i = begin; i < end; ++i) {
    batches_.push_back(data_.batch(counts_.epoch, i));
    if (!batches_.back().inputs.defined()) throw std::invalid_argument("osler: the loader gave a batch without inputs");
    shares_.push_back(static_cast<double>(samples_in(batches_.back())));
    samples += shares_.back();
  }
  for (double& share : shares_) share /= samples;
  monitor_->batch_ready();
  for (const Batch& batch : batches_) monitor_->batch(batch.inputs, batch.targets);
}

at::Tensor TrainLoop::loss_of(std::size_t batch) const {
  const at::Tensor loss = training_.loss_of(batches_[batch]);
  if (!loss.defined() || loss.numel() != 1) {
    throw std::invalid_argument("osler: the loss must be a single number; reduce it with mean() or sum() first");
  }
  return shares_.size() == 1 ? loss : loss * shares_[batch];
}

at::Tensor TrainLoop::whole_loss() const {
  at::Tensor sum = loss_of(0);
  for (std::size_t i = 1; i < batches_.size(); ++i) sum = sum + loss_of(i);
  return sum;
}

at::Tensor TrainLoop::accumulate() {
  training_.optimizer.zero_grad();
  at::Tensor sum;
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    const at::Tensor loss = loss_of(i);
    (loss_scale_ ? loss_scale_->scaled(loss) : loss).backward();
    // The graph of a single batch is what the monitor follows a NaN in; several are let go one by one.
    if (batches_.size() == 1) return loss;
    sum = sum.defined() ? sum + loss.detach() : loss.detach();
  }
  return sum;
}

void TrainLoop::step() {
  modes_.restore();
  draw();
  const at::Tensor loss = accumulate();
  counts_.loss = loss.detach().item<double>();
  const Gradients gradients = unscale();
  if (gradients != Gradients::overflowed) update(monitor_->step(loss) && gradients == Gradients::good);
  counts_.monitored = monitor_->steps();
  scheduler_.step();
  ++counts_.step;
  ++counts_.in_epoch;
}

TrainLoop::Gradients TrainLoop::unscale() {
  if (!loss_scale_) return Gradients::good;
  const double before = loss_scale_->value();
  const bool finite = loss_scale_->unscale(parameters_);
  monitor_->log("loss_scale", loss_scale_->value());
  if (finite) return Gradients::good;
  // As long as the scale can fall, it is the reason. A loss that is not finite has another one.
  const bool fell = loss_scale_->value() < before && std::isfinite(counts_.loss);
  return fell ? Gradients::overflowed : Gradients::bad;
}

void TrainLoop::update(bool go) {
  if (go) {
    counts_.skipped_in_a_row = 0;
    // These weights have just given a finite loss; those after the update have yet to.
    if (counts_.step - good_step_ >= options_.roll_back.keep_every) keep_good();
    training_.optimizer.step();
    return;
  }
  ++counts_.skipped;
  ++counts_.skipped_in_a_row;
  if (options_.roll_back.after > 0 && counts_.skipped_in_a_row >= options_.roll_back.after) roll_back();
}

void TrainLoop::keep_good() {
  if (options_.roll_back.after == 0) return;
  good_.emplace(training_.model, training_.optimizer);
  good_step_ = counts_.step;
}

void TrainLoop::roll_back() {
  ++counts_.roll_backs;
  if (lost()) return;
  // The data goes on, and so do random numbers: the same ones again would meet the same trouble.
  const RandomState random = RandomState::now(parameters_);
  good_->restore();
  random.restore();
  scheduler_.dampen(options_.roll_back.rate);
  counts_.skipped_in_a_row = 0;
  monitor_->log(series_name::kRollBack, static_cast<double>(good_step_));
}

bool TrainLoop::lost() const {
  return counts_.roll_backs > options_.roll_back.most;
}

// ---- Validation.

bool TrainLoop::validate() {
  double samples = 0;
  double sum = 0;
  std::vector<std::pair<std::string, double>> metrics;
  {
    const Evaluation evaluation(training_.model);
    for (std::int64_t i = 0; i < validation_->batches; ++i) {
      const Batch batch = validation_->batch(0, i);
      const at::Tensor outputs = training_.forward(batch.inputs);
      monitor_->validation_batch(outputs);
      const auto weight = static_cast<double>(samples_in(batch));
      sum += weight * training_.loss(outputs, batch.targets).item<double>();
      if (options_.metrics) add(metrics, options_.metrics(outputs, batch.targets), weight);
      samples += weight;
    }
  }
  for (auto& [name, value] : metrics) value /= samples;
  const double loss = sum / samples;
  counts_.validation_loss = loss;
  monitor_->validation(loss, metrics);
  const double gain = options_.early_stopping ? options_.early_stopping->least_gain : 0;
  if (std::isfinite(loss) && (!counts_.best_loss || loss < *counts_.best_loss - gain)) {
    counts_.best_loss = loss;
    counts_.best_step = counts_.step;
    counts_.since_best = 0;
    if (options_.keep_best) keep_best();
    return false;
  }
  ++counts_.since_best;
  return options_.early_stopping && counts_.since_best >= options_.early_stopping->patience;
}

std::vector<at::Tensor> TrainLoop::weights() const {
  std::vector<at::Tensor> all;
  for (const at::Tensor& parameter : parameters_) all.push_back(parameter.detach());
  for (const at::Tensor& buffer : training_.model.buffers()) all.push_back(buffer.detach());
  return all;
}

void TrainLoop::keep_best() {
  best_.clear();
  for (const at::Tensor& tensor : weights()) best_.push_back(tensor.clone());
}

void TrainLoop::put_best_back() {
  const at::NoGradGuard no_graph;
  const std::vector<at::Tensor> own = weights();
  for (std::size_t i = 0; i < best_.size(); ++i) own[i].copy_(best_[i]);
}

// ---- Progress.

void TrainLoop::tell_progress(bool at_the_end) {
  if (!options_.on_progress) return;
  const double time = now();
  if (!at_the_end && time - told_ < options_.progress_every) return;
  told_ = time;
  TrainProgress progress;
  progress.epoch = std::min(counts_.epoch, options_.epochs - 1);
  progress.epochs = options_.epochs;
  progress.step = counts_.step;
  progress.steps = options_.epochs * steps_per_epoch_;
  progress.loss = counts_.loss;
  progress.rate = scheduler_.rates()[0];
  progress.validation_loss = counts_.validation_loss;
  progress.seconds = time - began_;
  const auto done = static_cast<double>(counts_.step - first_step_);
  const auto left = static_cast<double>(progress.steps - progress.step);
  progress.seconds_left = done > 0 ? progress.seconds / done * left : 0;
  options_.on_progress(progress);
}

}  // namespace osler::torch
