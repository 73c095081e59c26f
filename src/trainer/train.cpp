// Training by a recipe: the loop that a person would write, with the mistakes that a recipe asks for.
#include "osler/trainer/train.h"

#include <malloc.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "monitor/clock.h"
#include "osler/torch/monitor.h"
#include "osler/torch/sam.h"
#include "trainer/network.h"
#include "trainer/optimizer.h"
#include "trainer/probing.h"
#include "trainer/rate.h"

namespace osler::trainer {

using monitor::now;
using torch::changed_samples;
using torch::MonitorOptions;
using torch::sample_hashes;
using torch::Schedule;
using torch::shared_samples;
namespace {

using gallery::Loss;
using gallery::Precision;
using gallery::Recipe;
using gallery::TrainingOptions;
using gallery::TrainingResult;
using gallery::Trap;

constexpr std::int64_t kValidations = 25;      // in a run
constexpr std::int64_t kFreshValidations = 3;  // before a recipe's evaluation keeps to old weights
constexpr std::int64_t kStatistics = 100;      // looks at all parameters in a run
constexpr std::int64_t kTraces = 50;           // looks at activations in a run
constexpr std::int64_t kHistograms = 25;       // of each tensor in a run

/// What a person writes down of a training. The mistakes of a recipe are not among it.
constexpr std::array<std::string_view, 19> kToldSettings = {
    "task",          "samples",      "model",           "depth",     "width",   "activation",   "init",
    "normalization", "dropout",      "label_smoothing", "optimizer", "lr",      "weight_decay", "momentum",
    "schedule",      "warmup_steps", "precision",       "steps",     "residual"};

/// The loss a sound training would have.
at::Tensor standard_loss(const TaskData& data, const at::Tensor& outputs, const at::Tensor& targets, double smoothing) {
  if (!data.classes) return at::mse_loss(outputs.view_as(targets), targets);
  return at::cross_entropy_loss(outputs.reshape({-1, *data.classes}), targets.reshape({-1}), {}, at::Reduction::Mean,
                                -100, smoothing);
}

double accuracy_of(const at::Tensor& outputs, const at::Tensor& targets) {
  return (outputs.argmax(-1) == targets).to(at::kFloat).mean().item<double>();
}

/// One training in progress.
class TrainingByRecipe {
 public:
  TrainingByRecipe(const Recipe& recipe, const TrainingOptions& options)
      : recipe_(recipe),
        options_(options),
        last_(std::min({recipe.steps, options.steps.value_or(recipe.steps), recipe.stop_step.value_or(recipe.steps)})),
        data_(make_data(recipe, options.digits)),
        network_(build_network(recipe, data_)),
        optimizer_(build_optimizer(recipe, *network_)),
        schedule_(schedule_of(recipe)) {
    if (!options_.probes.empty()) remember_beginning();
    // Before there is a monitor: of a process' traces only one can look at activations, and some probes do.
    probe(false);
    monitor_.emplace(*network_, *optimizer_, monitor_options());
    tell();
    for (const gallery::ProbeAnswer& answer : answers_) {
      for (const Experiment& experiment : answer.experiments) monitor_->experiment(experiment);
    }
  }

  TrainingResult run() {
    const double start = now();
    TrainingResult result;
    for (step_ = 0; step_ < last_; ++step_) {
      if (options_.stop.stop_requested() || now() - start > options_.most_seconds) {
        result.stopped = true;
        break;
      }
      const double loss = train_once();
      if (options_.on_progress) options_.on_progress({step_ + 1, last_, loss});
      if ((step_ + 1) % std::max<std::int64_t>(1, recipe_.steps / kValidations) == 0) validate();
      if ((step_ + 1) % batches_in_epoch() == 0) monitor_->epoch((step_ + 1) / batches_in_epoch());
    }
    if (!result.stopped) probe(true);
    result.answers = std::move(answers_);
    result.report = monitor_->report();
    result.steps = monitor_->steps();
    result.skipped = monitor_->skipped();
    result.origin = origin_;
    result.seconds = now() - start;
    result.drawn_digits = data_.drawn_digits;
    judge(result);
    return result;
  }

  Result<void> close() { return monitor_->close(); }

 private:
  MonitorOptions monitor_options() const {
    MonitorOptions options;
    options.name = options_.name;
    options.run_file = options_.run_file;
    // Set rhythms, not the time budget: the same recipe and seed must give the same report on any machine.
    options.statistics_every = std::max<std::int64_t>(1, recipe_.steps / kStatistics);
    options.trace_every = std::max<std::int64_t>(1, recipe_.steps / kTraces);
    options.histograms_every = std::max<std::int64_t>(1, recipe_.steps / kHistograms);
    // A trace that waits for a step after the last one would be in the way of probes that look at activations.
    if (!options_.probes.empty() && options.trace_every > 1 && last_ % options.trace_every == 0) ++options.trace_every;
    options.batches_every = 1;
    options.diagnose_every = options_.on_line ? std::max<std::int64_t>(20, recipe_.steps / 10) : -1;
    options.check_every_gradient = true;
    options.clip_norm = recipe_.clip_norm;
    options.skip_nonfinite = recipe_.skip_nonfinite;
    options.classes = data_.classes;
    options.batch_size = recipe_.batch_size;
    options.on_line = options_.on_line;
    return options;
  }

  void tell() {
    for (const std::string_view name : kToldSettings) monitor_->config(name, gallery::find_knob(name)->get(recipe_));
    const auto training = sample_hashes(data_.training.inputs);
    monitor_->split_overlap(shared_samples(training, sample_hashes(data_.validation.inputs)));
    monitor_->validation_changes(
        changed_samples(sample_hashes(validation_inputs()), sample_hashes(validation_inputs())));
  }

  [[nodiscard]] std::int64_t batches_in_epoch() const {
    return std::max<std::int64_t>(1, recipe_.samples / recipe_.batch_size);
  }

  /// The batch that a loader with this order gives after `drawn` others.
  Samples load(std::int64_t drawn, at::Tensor& order) const {
    const std::int64_t place = recipe_.fresh_batches ? drawn % batches_in_epoch() : 0;
    if (place == 0 && recipe_.shuffle && (recipe_.fresh_batches || !order.defined())) order = random_order();
    if (!order.defined()) order = at::arange(data_.training.count(), at::kLong);
    return data_.training.at(order.slice(0, place * recipe_.batch_size, (place + 1) * recipe_.batch_size));
  }

  Samples next_batch() {
    Samples batch = load(step_, order_);
    if (recipe_.slow_data_ms > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(recipe_.slow_data_ms));
    }
    if (trapped() && recipe_.trap == Trap::bad_input) batch.inputs.view({-1})[0] = std::nan("");
    return batch;
  }

  [[nodiscard]] at::Tensor random_order() const {
    const std::int64_t count = data_.training.count();
    const at::Tensor& targets = data_.training.targets;
    if (!recipe_.balanced_sampling || !data_.classes || targets.dim() != 1) return at::randperm(count, at::kLong);
    const at::Tensor sizes = at::bincount(targets, {}, *data_.classes).to(at::kFloat);
    return at::multinomial(sizes.reciprocal().index_select(0, targets), count, true);
  }

  /// What a careful loader refuses.
  [[nodiscard]] bool refused(const Samples& batch) const {
    constexpr double kLargest = 100;
    return recipe_.check_batches && batch.inputs.is_floating_point() &&
           !(batch.inputs.abs().max().item<double>() <= kLargest);
  }

  [[nodiscard]] bool trapped() const {
    return recipe_.trap != Trap::none &&
           step_ == static_cast<std::int64_t>(recipe_.trap_at * static_cast<double>(recipe_.steps));
  }

  at::Tensor forward(const at::Tensor& inputs) {
    const at::Tensor x =
        recipe_.precision == Precision::bf16 && inputs.is_floating_point() ? inputs.to(at::kBFloat16) : inputs;
    const at::Tensor outputs = network_->forward(x).to(at::kFloat);
    return recipe_.logit_scale == 1 ? outputs : outputs * recipe_.logit_scale;
  }

  /// Terms as people write them, sound on every batch but one.
  at::Tensor trap_term(const at::Tensor& outputs) const {
    constexpr double kFloor = 1e-8;
    const bool guarded = recipe_.guarded_math;
    switch (recipe_.trap) {
      case Trap::log_of_zero: {
        // The entropy of the prediction; one batch is so easy that a probability is exactly 0.
        const at::Tensor p = at::softmax(trapped() ? outputs * 1e4 : outputs, -1);
        return 0.01 * (p * at::log(guarded ? p.clamp_min(kFloor) : p)).sum(-1).mean();
      }
      case Trap::division_by_zero: {
        // Every row divided by its own spread; one batch has rows without any.
        const at::Tensor rows = trapped() ? outputs * 0 : outputs;
        const at::Tensor spread = (rows - rows.mean(-1, true)).abs().sum(-1, true);
        return 0.001 * (rows / (guarded ? spread + kFloor : spread)).mean();
      }
      case Trap::sqrt_at_zero: {
        // The distance of neighbouring predictions; in one batch neighbours are the same sample.
        const at::Tensor gap = trapped() ? outputs - outputs.detach() : outputs - outputs.roll({1}, {0});
        const at::Tensor squares = gap.pow(2).sum(-1);
        return 0.001 * at::sqrt(guarded ? squares + kFloor : squares).mean();
      }
      case Trap::exp_overflow: {
        // A partition function without the largest logit taken out; one batch has large logits.
        const at::Tensor logits = trapped() ? outputs * 1e3 : outputs;
        return 1e-4 * (guarded ? at::logsumexp(logits, {-1}) : at::log(at::exp(logits).sum(-1))).mean();
      }
      case Trap::in_place: {
        // Every row divided by its own spread, whose memory is then used for a masked statistic; one batch masks all.
        const at::Tensor spread = (outputs - outputs.mean(-1, true)).abs().sum(-1, true) + kFloor;
        const at::Tensor term = 0.001 * (outputs / spread).mean();
        const double mask = trapped() ? 0 : 1;
        if (!guarded) spread.data().mul_(mask);
        return term;
      }
      case Trap::bad_input:
      case Trap::none:
        break;
    }
    return {};
  }

  /// The loss as the recipe's person wrote it.
  at::Tensor own_loss(const at::Tensor& outputs, const at::Tensor& targets, double smoothing) const {
    switch (recipe_.loss) {
      case Loss::standard:
        break;
      case Loss::double_softmax:
        return standard_loss(data_, at::softmax(outputs, -1), targets, smoothing);
      case Loss::naive_log:
        return -at::log(at::softmax(outputs, -1).gather(-1, targets.unsqueeze(-1))).mean();
      case Loss::ascent:
        return -standard_loss(data_, outputs, targets, smoothing);
    }
    return standard_loss(data_, outputs, targets, smoothing);
  }

  at::Tensor loss_of(const at::Tensor& outputs, const at::Tensor& targets) const {
    const at::Tensor loss = own_loss(outputs, targets, recipe_.label_smoothing);
    const at::Tensor term = trap_term(outputs);
    const at::Tensor sum = term.defined() ? loss + term : loss;
    return recipe_.loss_weight == 1 ? sum : recipe_.loss_weight * sum;
  }

  double train_once() {
    resume();
    network_->train(recipe_.train_mode);
    set_rate(*optimizer_, recipe_.lr * schedule_.at(step_ - schedule_start_).rate);
    monitor_->await_batch();
    const Samples batch = next_batch();
    monitor_->batch_ready();
    if (refused(batch)) return last_loss_;
    monitor_->batch(batch.inputs, data_.classes && batch.targets.dim() == 1 ? batch.targets : at::Tensor());
    if (recipe_.zero_grad) optimizer_->zero_grad();
    at::Tensor outputs;
    const auto compute = [&] {
      outputs = forward(batch.inputs);
      return loss_of(outputs, batch.targets);
    };
    const at::Tensor loss = compute();
    backward(loss);
    // Once is enough: what comes after the first accident is mostly its echo in the weights.
    if (origin_.empty()) monitor_->replay_with(compute);
    if (monitor_->step(loss)) {
      if (recipe_.sam > 0) look_uphill(batch);
      optimizer_->step();
    }
    if (origin_.empty() && monitor_->origin()) origin_ = describe(*monitor_->origin());
    monitor_->replay_with({});
    if (recipe_.keep_graphs) kept_.insert(kept_.end(), {batch.inputs, outputs, loss});
    if (data_.classes) monitor_->log("train/accuracy", accuracy_of(outputs.detach(), batch.targets));
    last_loss_ = loss.item<double>();
    return last_loss_;
  }

  /// Takes the gradient of the step where the loss is highest nearby.
  void look_uphill(const Samples& batch) {
    torch::Sam sam(*optimizer_, recipe_.sam);
    if (!sam.climb()) return;
    optimizer_->zero_grad();
    backward(loss_of(forward(batch.inputs), batch.targets));
  }

  /// Half precision needs its loss scaled up; the scale is halved whenever a gradient overflows, as everybody does.
  void backward(const at::Tensor& loss) {
    if (recipe_.precision != Precision::fp16 || recipe_.loss_scale <= 0) {
      loss.backward();
      return;
    }
    if (scale_ == 0) scale_ = recipe_.loss_scale;
    (loss * scale_).backward();
    bool finite = true;
    for (const at::Tensor& parameter : network_->parameters()) {
      if (!parameter.grad().defined()) continue;
      parameter.grad().div_(scale_);
      finite = finite && at::isfinite(parameter.grad()).all().item<bool>();
    }
    monitor_->log("loss_scale", scale_);
    if (!finite) scale_ = std::max(1.0, scale_ / 2);
  }

  /// The stop and the second start of a training: optimizer and schedule as a person restores them.
  void resume() {
    if (!recipe_.resume_at || step_ != *recipe_.resume_at) return;
    monitor_->checkpoint(recipe_.resume_schedule);
    if (!recipe_.resume_schedule) schedule_start_ = step_;
  }

  at::Tensor validation_inputs() {
    if (!recipe_.augment_validation || !data_.validation.inputs.is_floating_point()) return data_.validation.inputs;
    const at::Tensor noise =
        at::randn(data_.validation.inputs.sizes(), augmentation_, data_.validation.inputs.options());
    return data_.validation.inputs + 0.3 * noise;
  }

  void validate() {
    if (!recipe_.fresh_validation && stale_.empty() && ++validations_ > kFreshValidations) {
      for (const at::Tensor& parameter : network_->parameters()) stale_.push_back(parameter.detach().clone());
    }
    if (!stale_.empty()) swap_with_stale();
    network_->train(!recipe_.eval_mode);
    {
      at::AutoGradMode graph(!recipe_.no_grad);
      const at::Tensor outputs = forward(validation_inputs());
      const at::Tensor& targets = data_.validation.targets;
      monitor_->validation_batch(outputs);
      std::vector<std::pair<std::string, double>> metrics;
      if (data_.classes) {
        const at::Tensor held = recipe_.metric_right ? targets : targets.roll({1}, {0});
        metrics.emplace_back("accuracy", accuracy_of(outputs, held));
      }
      monitor_->validation(recipe_.loss_weight * own_loss(outputs, targets, 0).item<double>(), metrics);
    }
    if (!stale_.empty()) swap_with_stale();
  }

  void remember_beginning() {
    for (const at::Tensor& each : network_->parameters()) beginning_.push_back(each.detach().clone());
    for (const at::Tensor& each : network_->buffers()) beginning_.push_back(each.detach().clone());
  }

  void begin_again() {
    at::NoGradGuard guard;
    auto place = beginning_.begin();
    for (const at::Tensor& each : network_->parameters()) at::Tensor(each).copy_(*place++);
    for (const at::Tensor& each : network_->buffers()) at::Tensor(each).copy_(*place++);
    set_rate(*optimizer_, recipe_.lr);
  }

  /// The training as probes see it. They draw their batches from a loader of their own.
  [[nodiscard]] Training as_training() {
    Training training{*network_, *optimizer_, {}, {}, {}, {}, data_.classes, {}};
    training.forward = [this](const at::Tensor& inputs) { return forward(inputs); };
    training.loss = [this](const at::Tensor& outputs, const at::Tensor& targets) { return loss_of(outputs, targets); };
    training.next_batch = [this] {
      const Samples batch = load(probe_batches_++, probe_order_);
      return torch::Batch{batch.inputs, batch.targets};
    };
    training.next_validation_batch = [this] {
      const std::int64_t size = std::min(recipe_.batch_size, data_.validation.count());
      const std::int64_t from = (probe_validations_++ * size) % (data_.validation.count() - size + 1);
      return torch::Batch{validation_inputs().slice(0, from, from + size),
                          data_.validation.targets.slice(0, from, from + size)};
    };
    training.restart = [this] { begin_again(); };
    return training;
  }

  /// Runs the probes that look at the trained network, or at the fresh one, whose rate is then the recipe's.
  void probe(bool trained) {
    if (options_.probes.empty()) return;
    network_->train(recipe_.train_mode);
    if (!trained) set_rate(*optimizer_, recipe_.lr);
    const ProbeSubject subject{as_training(), trained ? &*monitor_ : nullptr, [this] { return validation_inputs(); }};
    for (const gallery::Probe* probe : options_.probes) {
      if (probe->trained != trained) continue;
      answers_.push_back(run_probe(*probe, subject, {options_.most_seconds, options_.stop}, options_.on_probe));
    }
  }

  void swap_with_stale() {
    at::NoGradGuard guard;
    const auto parameters = network_->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const at::Tensor now = parameters[i].detach().clone();
      at::Tensor(parameters[i]).copy_(stale_[i]);
      stale_[i] = now;
    }
  }

  void judge(TrainingResult& result) {
    at::NoGradGuard guard;
    network_->eval();
    const at::Tensor outputs = forward(data_.truth.inputs);
    result.true_loss = standard_loss(data_, outputs, data_.truth.targets, 0).item<double>();
    if (data_.classes) result.true_accuracy = accuracy_of(outputs, data_.truth.targets);
  }

  Recipe recipe_;
  const TrainingOptions& options_;
  std::int64_t last_;
  TaskData data_;
  std::shared_ptr<Network> network_;
  std::unique_ptr<::torch::optim::Optimizer> optimizer_;
  Schedule schedule_;
  std::optional<Monitor> monitor_;
  std::int64_t step_ = 0;
  std::int64_t schedule_start_ = 0;
  at::Tensor order_;
  double last_loss_ = 0;
  std::string origin_;  // of the first value that was not finite
  double scale_ = 0;    // of the loss, in half precision; 0 before the first step
  at::Generator augmentation_ = at::detail::createCPUGenerator();  // so that training draws the same without it
  std::vector<at::Tensor> stale_;
  std::int64_t validations_ = 0;
  std::vector<at::Tensor> kept_;  // losses with their graphs
  std::vector<gallery::ProbeAnswer> answers_;
  std::vector<at::Tensor> beginning_;  // parameters and buffers before the first step, where a probe may ask for them
  at::Tensor probe_order_;
  std::int64_t probe_batches_ = 0;
  std::int64_t probe_validations_ = 0;
};

/// One thread while it lives: with networks this small, threads spend their time waiting for each other.
class OneThread {
 public:
  OneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }
  ~OneThread() { at::set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace

Result<TrainingResult> train(const gallery::Recipe& recipe, const TrainingOptions& options) {
  if (auto fits = gallery::check(recipe); !fits) return fits.error();
  try {
    const OneThread one_thread;
    // What an earlier training has freed goes back to the system, or growth of this one's memory would not show.
    ::malloc_trim(0);
    ::torch::manual_seed(options.seed);
    TrainingByRecipe training(recipe, options);
    TrainingResult result = training.run();
    if (auto closed = training.close(); !closed) return closed.error();
    return result;
  } catch (const std::exception& problem) {
    // The edge of LibTorch: whatever it throws ends this training, not the program.
    return Error{ErrorCode::internal, problem.what(), options.name};
  }
}

}  // namespace osler::trainer
