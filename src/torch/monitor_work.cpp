// A step under the monitor: what is looked at, in which order, and at what cost.
#include "torch/monitor_work.h"

#include <ATen/SequenceNumber.h>
#include <ATen/core/grad_mode.h>
#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "monitor/clock.h"
#include "osler/diagnosis/diagnose.h"
#include "run/series_names.h"
#include "torch/clipping.h"
#include "torch/company.h"
#include "torch/host_tensor.h"
#include "torch/loss_graph.h"

namespace osler::torch {

using monitor::now;
namespace {

constexpr std::uint64_t kDeadBatches = 8;   // traced batches in which a dead unit was silent, at least
constexpr std::uint64_t kDeadPlaces = 256;  // samples and positions in which it was silent, at least
/// A buffer of more elements is no running statistic; without a replay it is not copied on every step.
constexpr std::int64_t kLargestStatistic = 1 << 20;
/// Steps that are followed after a broken one that cannot be run again, and in all of a run: what breaks all the time
/// need not be followed all the time.
constexpr std::int64_t kArmed = 2;
constexpr std::int64_t kArmedInAll = 8;
/// Of the step, what looking at large gradients without a small one beside them may take; a core reads at least this
/// many numbers in a second.
constexpr double kUnguardedShare = 0.003;
constexpr double kNumbersPerSecond = 4e9;

/// Layers that compute something else in evaluation.
bool depends_on_mode(const ::torch::nn::Module& model) {
  const auto depends = [](const ::torch::nn::Module& module) {
    const std::string& name = module.name();
    return name.find("Dropout") != std::string::npos || name.find("BatchNorm") != std::string::npos;
  };
  // The model itself may live on the stack, where LibTorch cannot list it among its modules.
  const auto modules = model.modules(/*include_self=*/false);
  return depends(model) ||
         std::any_of(modules.begin(), modules.end(), [&](const auto& each) { return depends(*each); });
}

}  // namespace

Monitor::Work::Work(::torch::nn::Module& model, ::torch::optim::Optimizer& optimizer, MonitorOptions options,
                    Recorder recorder)
    : model_(model),
      optimizer_(optimizer),
      options_(std::move(options)),
      recorder_(std::move(recorder)),
      book_(model),
      buffers_(model.buffers()),
      batches_({options_.classes, BatchExpectations{}.extreme}, options_.batches_every,
               monitor::Spending::kBatchShare * options_.budget),
      mode_matters_(depends_on_mode(model)),
      trace_(model, Passes::training),
      spending_(options_.budget, batches_.budget()),
      news_(options_.diagnose_every),
      record_(options_.first_step, options_.line_every),
      company_(join_company(book_.parameters())),
      histogram_pace_(options_.histograms_every),
      activation_pace_(options_.histograms_every) {
  steps = options_.first_step;
  tell_configuration();
  tell_parameters();
  book_.record_start(recorder_);
  buffers_before_.save(buffers_, kLargestStatistic);
  left_ = now();
  graph_left_ = at::sequence_number::peek();
  // The first forward pass shows the network before it has learned anything.
  open_watch();
}

void Monitor::Work::require_use(const at::Tensor& loss) const {
  require_steps();
  if (!loss.defined() || loss.numel() != 1) {
    throw std::invalid_argument("osler: the loss must be a single number; reduce it with mean() or sum() first");
  }
  if (!book_.in_place()) {
    throw std::invalid_argument(
        "osler: the model was moved to another device after the Monitor was made; make the "
        "Monitor after model.to(device)");
  }
}

void Monitor::Work::require_steps() const {
  if (closed_) throw std::invalid_argument("osler: step() after close(); make a new Monitor to go on recording");
}

bool Monitor::Work::step(const at::Tensor& loss) {
  const double arrived = now();
  require_use(loss);
  record_.gradients_cleared(recorder_, steps, false);
  finish_trace(arrived - left_);
  const double computing = arrived - left_ - traced_;
  times.other += computing;
  spending_.trained(computing);
  // The backward pass of data-parallel training waits for the other ranks, so it tells nothing about this one.
  last_compute_ = waited_ > 0 ? waited_ : computing;
  spending_.earn(computing);
  recorder_.scalar(steps, "step_time", waited_ + computing);
  waited_ = 0;
  const bool go = examine(loss);
  if (replay_) {
    save_state();
  } else {
    buffers_before_.save(buffers_, kLargestStatistic);
  }
  // The forward pass comes before the next call: it is watched from here on.
  open_watch();
  left_ = now();
  took(left_ - arrived + traced_);
  throw_refusal();
  return go;
}

bool Monitor::Work::train_step(const std::function<at::Tensor()>& compute_loss) {
  const double arrived = now();
  require_steps();
  if (!compute_loss) {
    throw std::invalid_argument("osler: train_step() was given no function; give it one that returns the loss");
  }
  if (dynamic_cast<::torch::optim::LBFGS*>(&optimizer_) != nullptr) {
    throw std::invalid_argument(
        "osler: LBFGS computes the loss several times in one step, which train_step() cannot watch; call "
        "optimizer.step(closure) yourself and monitor.step(loss) after it");
  }
  graph_before_ = at::sequence_number::peek();
  record_.gradients_cleared(recorder_, steps, true);
  save_state();
  open_watch();
  const double began = now();
  at::Tensor loss;
  double forward_done = 0;
  double backward_began = 0;
  try {
    optimizer_.zero_grad();
    loss = compute_loss();
    require_use(loss);
    if (!loss.requires_grad()) {
      throw std::invalid_argument(
          "osler: the loss depends on no parameter, so that nothing can be learned from it; was it computed under "
          "NoGradGuard, or from detached tensors?");
    }
    forward_done = now();
    // The backward pass need not be watched for activations.
    if (!always_) finish_trace(forward_done - began);
    backward_began = now();
    loss.backward();
  } catch (...) {
    watch_.reset();
    throw;
  }
  const double backward_done = now();
  if (always_) finish_trace(forward_done - began);
  const std::function<at::Tensor()> before = std::exchange(replay_, compute_loss);
  const bool go = examine(loss);
  replay_ = before;
  const double examined = now();
  loss.reset();  // the graph goes before the optimizer comes, as without a monitor: its memory is used again
  if (go) optimizer_.step();
  const double stepped = now();
  const double waiting = waiting_for_data(arrived - left_);
  const double forward = forward_done - began - traced_;
  times.forward += forward;
  const double backward = backward_done - backward_began;
  times.backward += backward;
  times.optimizer += stepped - examined;
  last_compute_ = waiting + forward;
  recorder_.scalar(steps - 1, series_name::kTimeForward, forward);
  recorder_.scalar(steps - 1, series_name::kTimeBackward, backward);
  recorder_.scalar(steps - 1, series_name::kTimeOptimizer, stepped - examined);
  const double computing = forward + backward + (stepped - examined);
  recorder_.scalar(steps - 1, "step_time", waiting + computing);
  // A long pause (a validation, a checkpoint) earns no more than work does, or a burst of watching would follow it.
  spending_.earn(computing + std::min(waiting, computing));
  spending_.trained(waiting + computing);
  left_ = now();
  graph_left_ = at::sequence_number::peek();
  took((began - arrived) + traced_ + (backward_began - forward_done) + (examined - backward_done) + (left_ - stepped));
  throw_refusal();
  return go;
}

/// What lies between two steps is the waiting for data, unless someone has built a graph meanwhile: another network
/// was trained, or validated. Told and counted as what it is; returns the waiting.
double Monitor::Work::waiting_for_data(double seconds) {
  if (graph_before_ != graph_left_) {
    times.other += seconds;
    return 0;
  }
  times.data += seconds;
  recorder_.scalar(steps - 1, series_name::kTimeData, seconds);
  return seconds;
}

bool Monitor::Work::examine(const at::Tensor& loss) {
  const double value = single_value(loss);
  const bool sampled = due(options_.statistics_every, spending_.statistics);
  const bool updated = book_.remembers();
  const GradientLook look = look_at_gradients(sampled);
  if (updated) finish_updates();
  if (const auto pair = book_.take_pair()) record_.pair(recorder_, steps, *pair, options_.batch_size);
  record_step(value, look);
  const bool finite = std::isfinite(value) && look.finite;
  tell_turns(loss);
  if (sampled && steps_seen() < monitor::Spending::kFirstSteps) {
    check(series_name::kCheckOutputsSquashedTwice, monitor::squashed_twice(graph_of(loss)) ? 1 : 0);
  }
  if (finite) {
    if (sampled) {
      record_statistics();
      record_histograms();
      tell_parameters();
    }
    clip(look);
  } else {
    book_.forget();
    refuse(loss, value, look);
  }
  if (options_.ranks) compare_ranks(look);
  tell_line();
  diagnose_live();
  inputs_ = labels_ = at::Tensor();  // the batch was of this step
  ++steps;
  spending_.at_step(steps_seen());
  return finite || !options_.skip_nonfinite;
}

void Monitor::Work::tell_turns(const at::Tensor& loss) {
  // A loss that the step before belonged to is one of several networks that are trained together.
  if (begins_anew(loss)) {
    company_->used();
    if (steps_seen() < monitor::Spending::kFirstSteps && options_.budget > 0) {
      const LossMakeUp made = make_up_of(loss);
      record_.loss_kind(recorder_, made.kind);
      tell_used(made.parameters, *company_);
    }
  }
  company_->left(0);
  if (company_->in_turns()) record_.in_turns(recorder_);
}

GradientLook Monitor::Work::look_at_gradients(bool sampled) {
  const double before = now();
  const bool asked = sampled || options_.check_every_gradient || options_.clip_norm.has_value();
  const bool second = book_.remembers_gradients();
  const bool all = asked || second || spending_.gradients.affords();
  const bool paired = second || (sampled && record_.begin_pair(steps));
  const auto most = static_cast<std::int64_t>(kUnguardedShare * kNumbersPerSecond * spending_.training() /
                                              static_cast<double>(std::max<std::int64_t>(1, steps_seen())));
  GradientLook look = sampled ? book_.measure(paired)
                      : all   ? book_.look(paired)
                              : book_.look_at_small(std::max(ParameterBook::kAlways, most));
  // A bad value among the small ones is followed up at any price.
  if (!look.finite && !all) look = book_.look();
  if (sampled || second) {
    spending_.spend(spending_.statistics, now() - before);
  } else if (all && !asked) {
    spending_.spend(spending_.gradients, now() - before);
  }
  if (look.complete) gradient_norm = look.finite ? look.norm : std::nan("");
  return look;
}

void Monitor::Work::record_step(double loss, const GradientLook& look) {
  record_.step(recorder_, steps, loss, look.complete ? gradient_norm : std::nullopt);
  std::vector<double> rates;
  for (const auto& group : optimizer_.param_groups()) {
    if (group.has_options()) rates.push_back(group.options().get_lr());
  }
  record_.state(recorder_, steps, rates, mode_matters_ ? std::optional(model_.is_training()) : std::nullopt);
}

void Monitor::Work::clip(const GradientLook& look) {
  const std::vector<at::Tensor>& parameters = book_.parameters();
  bool shrunk = false;
  if (options_.clip_value) clamp_gradients(parameters, *options_.clip_value);
  if (options_.clip_adaptive) shrunk = scale_units(parameters, {.ratio = *options_.clip_adaptive});
  if (options_.clip_norm) {
    const bool changed = options_.clip_value || options_.clip_adaptive;
    const double norm = changed ? torch::gradient_norm(parameters) : look.norm;
    shrunk = scale_to_norm(parameters, norm, *options_.clip_norm) || shrunk;
    recorder_.scalar(steps, series_name::kClipFactor, norm > *options_.clip_norm ? *options_.clip_norm / norm : 1);
  }
  if (shrunk) ++clipped;
  if (!options_.clip_norm && !options_.clip_adaptive) return;
  recorder_.scalar(steps, "clipped", shrunk ? 1 : 0);
  record_.tally().clipping(shrunk);
}

void Monitor::Work::refuse(const at::Tensor& loss, double value, const GradientLook& look) {
  watch_.reset();
  find_origin(loss, value, look);
  std::string text =
      std::isfinite(value) ? "The gradient of " + look.first_bad + " is not finite." : "The loss is not finite.";
  text.append(" ").append(describe(*origin));
  recorder_.scalar(steps, series_name::completed(series_name::kOriginOf, to_string(origin->cause)), 1);
  if (options_.skip_nonfinite) {
    optimizer_.zero_grad();
    if (!buffers_before_.empty()) buffers_before_.restore(buffers_);
    ++skipped;
    text += " The step was left out.";
  }
  recorder_.mark(Mark::Kind::note, steps, text);
  refusal_ = "step " + std::to_string(steps) + ": " + text;
  if (options_.on_line) options_.on_line("osler: " + refusal_);
}

void Monitor::Work::find_origin(const at::Tensor& loss, double value, const GradientLook& look) {
  origin.reset();
  std::string hint;
  if (always_) {
    origin = always_->origin(loss);
  } else if (replay_ && saved_) {
    replay(hint);
  } else {
    hint = "; replay_with() or train_step() would name the operation";
  }
  if (origin) return;
  origin = rough_origin(value, look, hint);
  const bool told = origin->place == OriginPlace::batch || origin->place == OriginPlace::weights;
  if (!told && armed_so_far_ < kArmedInAll) armed_ = kArmed;
}

/// Runs the step again under the tracer.
void Monitor::Work::replay(std::string& hint) {
  const RandomState after = RandomState::now(book_.parameters());
  try {
    random_before_.restore();
    host_random_before_.restore();
    buffers_before_.restore(buffers_);
    origin = trace_origin(model_, replay_);
    hint =
        "; run a second time, all of it was finite: the function gives another loss each time. Draw the batch outside "
        "of it, so that the step can be repeated";
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    hint.append("; the step could not be run a second time: ").append(what.substr(0, what.find('\n')));
  }
  after.restore();
}

void Monitor::Work::record_statistics() {
  const double before = now();
  book_.record(recorder_, steps);
  record_.memory(recorder_, steps);
  remembered_step_ = steps;
  spending_.spend(spending_.statistics, now() - before);
}

void Monitor::Work::finish_updates() {
  const double before = now();
  book_.record_updates(recorder_, remembered_step_);
  spending_.spend(spending_.statistics, now() - before);
}

void Monitor::Work::finish_trace(double elapsed) {
  constexpr double kAdapt = 0.1;
  constexpr double kMostBeside = 3;      // times what the trace measures
  constexpr double kMostToShow = 10e-6;  // seconds for an operation
  traced_ = 0;
  if (!watch_) {
    usual_ = usual_ == 0 ? elapsed : usual_ + kAdapt * (elapsed - usual_);
    return;
  }
  watch_.reset();
  if (always_) return;
  // Beside what the trace measures LibTorch itself takes its time to show it every operation. A pause of the user's
  // is not to be mistaken for it.
  const double seconds = trace_.seconds();
  const double most = kMostBeside * seconds + kMostToShow * static_cast<double>(trace_.operations());
  traced_ = usual_ == 0 ? seconds : std::clamp(elapsed - usual_, seconds, most);
  const double before = now();
  record_activations();
  spending_.spend(spending_.trace, now() - before + traced_);
}

void Monitor::Work::record_activations() {
  const std::int64_t step = steps;
  for (const Activation& activation : trace_.activations()) {
    recorder_.tensor(step, TensorKind::activation, activation.layer, activation.stats,
                     activation.counts ? &*activation.counts : nullptr);
    const std::string name = tensor_name(TensorKind::activation, activation.layer);
    if (activation.saturated) recorder_.scalar(step, name + "#saturated-share", *activation.saturated);
    if (activation.rows && std::isfinite(activation.rows->spread)) {
      recorder_.scalar(step, name + "#spread", activation.rows->spread);
    }
    if (activation.entropy) recorder_.scalar(step, name + "#entropy", *activation.entropy);
    if (activation.drift) recorder_.scalar(step, name + "#drift", *activation.drift);
    if (activation.units) {
      const std::uint64_t places = std::max<std::uint64_t>(1, activation.units->places);
      const std::uint64_t length = std::max(kDeadBatches, (kDeadPlaces + places - 1) / places);
      auto window = dead_.try_emplace(activation.layer, activation.units->active.size(), length).first;
      window->second.add(*activation.units);
      if (window->second.full()) recorder_.scalar(step, name + "#dead-share", window->second.dead_share());
    }
  }
  if (activation_pace_.due(steps_seen())) activation_pace_.took(steps_seen());
  if (trace_.logits()) recorder_.scalar(step, series_name::kLogitsMax, trace_.logits()->stats.abs_max());
}

void Monitor::Work::open_watch() {
  watch_.reset();
  always_.reset();
  if (options_.trace_always || armed_ > 0) {
    if (armed_ > 0) {
      --armed_;
      ++armed_so_far_;
    }
    always_ = std::make_unique<OriginTrace>(model_);
    watch_.emplace(*always_);
    if (!watch_->active()) always_.reset();
  } else if (due(options_.trace_every, spending_.trace)) {
    trace_.clear();
    trace_.with_histograms(activation_pace_.due(steps_seen()));
    watch_.emplace(trace_);
    if (!watch_->active()) watch_.reset();  // another monitor looks: one would see nothing, and take that for the price
  }
}

void Monitor::Work::save_state() {
  saved_ = true;
  host_random_before_.save();
  if (!book_.on_host()) random_before_ = RandomState::now(book_.parameters());
  buffers_before_.save(buffers_);
}

void Monitor::Work::replay_with(std::function<at::Tensor()> compute_loss) {
  replay_ = std::move(compute_loss);
  if (replay_) save_state();
}

void Monitor::Work::await_batch() {
  asked_ = now();
  times.other += *asked_ - left_;
  spending_.earn(*asked_ - left_);
  left_ = *asked_;
}

void Monitor::Work::batch_ready() {
  const double arrived = now();
  if (asked_) {
    waited_ = arrived - *asked_;
    times.data += waited_;
    recorder_.scalar(steps, series_name::kTimeData, waited_);
    asked_.reset();
  } else {
    times.other += arrived - left_;
  }
  spending_.earn(arrived - left_);
  if (replay_) save_state();
  left_ = now();
  times.monitor += left_ - arrived;
}

void Monitor::Work::diagnose_live() {
  if (!listened_to() || !news_.due(steps, steps_seen() + 1, spending_)) return;
  tell_parameters();
  for (const Observation& observation : news_.take(recorder_, steps_seen() + 1, spending_)) tell(observation);
}

void Monitor::Work::tell(const Observation& observation) {
  if (options_.on_finding) options_.on_finding(observation);
  // A note is no reason to look up from one's work: the summary and the report have it.
  if (options_.on_line && observation.severity > Severity::note) {
    options_.on_line("osler: step " + std::to_string(steps) + ": " + std::string(to_string(observation.severity)) +
                     ": " + observation.summary + " [" + observation.finding + "]");
  }
}

Report Monitor::Work::report(bool layers) {
  if (!closed_) tell_parameters();
  Report report;
  DiagnosisOptions options;
  options.layers = layers;
  recorder_.visit([&](const Run& run) {
    Result<Report> made = diagnose(run, options);
    if (made) report = std::move(*made);
  });
  return report;
}

}  // namespace osler::torch
