// A step under a monitor.
#include "monitor/step_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "monitor/clock.h"
#include "run/series_names.h"

namespace osler::monitor {

std::string fault_of(const WatchOptions& options) {
  if (!(options.budget >= 0 && options.budget <= 1)) {
    return fmt::format("budget is {:.6g}: write a share of the training time between 0 and 1, such as 0.02",
                       options.budget);
  }
  if (options.classes && *options.classes < 2) {
    return fmt::format("classes is {}: a classifier has at least 2", *options.classes);
  }
  if (options.batch_size && *options.batch_size < 1) {
    return fmt::format("batch_size is {}: a step has at least 1 sample", *options.batch_size);
  }
  const std::array<std::pair<const char*, std::int64_t>, 5> cadences = {
      {{"statistics_every", options.statistics_every},
       {"trace_every", options.trace_every},
       {"batches_every", options.batches_every},
       {"diagnose_every", options.diagnose_every},
       {"histograms_every", options.histograms_every}}};
  for (const auto& [name, every] : cadences) {
    if (every < -1) {
      return fmt::format("{} is {}: write a number of steps, 0 to let the budget decide, or -1 for never", name, every);
    }
  }
  if (options.line_every < 0) {
    return fmt::format("line_every is {}: write a number of steps, or 0 for no lines", options.line_every);
  }
  if (options.first_step < 0) return fmt::format("first_step is {}: steps count from 0", options.first_step);
  return {};
}

StepWatch::StepWatch(const WatchOptions& options, Recorder recorder, std::vector<ParameterInfo> parameters)
    : options_(options),
      recorder_(std::move(recorder)),
      parameters_(std::move(parameters), options.threads),
      batches_(options.classes, options.batches_every, Spending::kBatchShare * options.budget),
      // Without a share: of validation, which is the same every time, the first batches tell all.
      validation_batches_(options.classes, options.batches_every, 0, BatchLedger::Of::validation),
      steps_(options.first_step),
      spending_(options.budget, batches_.budget()),
      news_(options.diagnose_every),
      record_(options.first_step, options.line_every),
      histogram_pace_(options.histograms_every),
      activation_pace_(options.histograms_every) {
  activations_.with_histograms(activation_pace_.due(0));
  mark_left();
}

void StepWatch::begin(TensorSource& source) {
  if (options_.batch_size) recorder_.config("batch_size", std::to_string(*options_.batch_size));
  if (options_.classes) recorder_.config("num_classes", std::to_string(*options_.classes));
  recorder_.layers(parameters_.layers());
  for (const ParameterInfo& parameter : parameters_.parameters()) {
    if (parameter.table) check(series_name::completed(series_name::kParameterTableOf, parameter.name), 1);
  }
  parameters_.record_start(recorder_, source);
  mark_left();
}

void StepWatch::tell_parameters(const std::vector<bool>& trainable, const std::vector<bool>& optimized) {
  std::vector<ParameterState> states;
  states.reserve(trainable.size());
  for (std::size_t i = 0; i < trainable.size() && i < parameters_.parameters().size(); ++i) {
    parameters_.tell(i, trainable[i], optimized[i]);
    const bool left_out = trainable[i] && !optimized[i] && !parameters_.has_moved(i);
    states.push_back({parameters_.parameters()[i].name, trainable[i], left_out});
  }
  record_.parameters(recorder_, steps_, states);
}

bool StepWatch::due(std::int64_t every, const Budget& budget) const {
  return spending_.due(steps_, every, budget);
}

bool StepWatch::trace_due() const {
  return due(options_.trace_every, spending_.trace);
}

bool StepWatch::statistics_due() const {
  return due(options_.statistics_every, spending_.statistics);
}

void StepWatch::traced(double seconds, std::size_t operations) {
  constexpr double kAdapt = 0.1;
  constexpr double kMostBeside = 3;      // times what the trace measures
  constexpr double kMostToShow = 50e-6;  // seconds for an operation, which an interpreter shows to us
  const double elapsed = arrived_ - left_ - aside_;
  traced_ = 0;
  if (operations == 0) {
    usual_ = usual_ == 0 ? elapsed : usual_ + kAdapt * (elapsed - usual_);
    return;
  }
  const double most = kMostBeside * seconds + kMostToShow * static_cast<double>(operations);
  traced_ = usual_ == 0 ? seconds : std::clamp(elapsed - usual_, seconds, std::max(seconds, most));
  const double before = now();
  activations_.record(recorder_, steps_);
  if (activation_pace_.due(steps_seen())) activation_pace_.took(steps_seen());
  spending_.spend(spending_.trace, now() - before + traced_);
}

void StepWatch::arrive() {
  arrived_ = now();
  at_work_arrived_ = at_work();
}

StepVerdict StepWatch::examine(double loss, TensorSource& source) {
  const bool sampled = statistics_due();
  const bool updated = parameters_.remembers();
  const GradientLook look = look_at_gradients(source, sampled);
  if (updated) {
    const double before = now();
    parameters_.record_updates(recorder_, remembered_step_, source);
    spending_.spend(spending_.statistics, now() - before);
  }
  if (const auto pair = parameters_.take_pair()) record_.pair(recorder_, steps_, *pair, options_.batch_size);
  StepVerdict verdict{std::isfinite(loss) && look.finite, look.first_bad, {}};
  if (look.complete) verdict.norm = look.finite ? look.norm : std::nan("");
  record_.step(recorder_, steps_, loss, verdict.norm);
  if (!verdict.finite) {
    parameters_.forget();
  } else if (sampled) {
    const double before = now();
    parameters_.record(recorder_, steps_, source);
    record_.memory(recorder_, steps_);
    remembered_step_ = steps_;
    spending_.spend(spending_.statistics, now() - before);
    record_histograms(source);
  }
  return verdict;
}

void StepWatch::record_histograms(TensorSource& source) {
  if (!histogram_pace_.due(steps_seen())) return;
  if (options_.histograms_every == 0 && !spending_.histograms.affords()) return;
  const double before = now();
  parameters_.record_histograms(recorder_, steps_, source);
  histogram_pace_.took(steps_seen());
  spending_.histograms.spend(now() - before);
}

void StepWatch::late_loss(std::int64_t step, double loss) {
  record_.step(recorder_, step, loss, std::nullopt);
}

void StepWatch::tell_clipping(double factor) {
  recorder_.scalar(steps_, "clipped", factor < 1 ? 1 : 0);
  recorder_.scalar(steps_, series_name::kClipFactor, factor);
  record_.tally().clipping(factor < 1);
}

void StepWatch::epoch(double number) {
  const auto mean = record_.tally().end_epoch();
  validation("epoch", number);
  if (mean) validation("train/loss_epoch", *mean);
}

void StepWatch::use_gpu(std::unique_ptr<stats::GpuEngine> engine) {
  gpu_ = std::make_unique<GpuLedger>(std::move(engine), parameters_.parameters().size());
  activations_.use_gpu(gpu_->engine());
}

Result<std::vector<LateLook>> StepWatch::look_later(TensorSource& source, void* stream) {
  double before = now();
  const auto shown = activations_.collect(recorder_);
  if (!shown) return shown.error();
  // What the device took is the training's time as well.
  if (*shown > 0) spending_.spend(spending_.trace, *shown + now() - before);
  before = now();
  auto landed = gpu_->collect(recorder_, parameters_.parameters());
  const bool sampled = statistics_due() || options_.check_every_gradient;
  const bool asks = sampled || gpu_->remembers(steps_);
  if (landed && asks) {
    if (const auto asked = gpu_->ask(source, steps_, sampled, stream); !asked) return asked.error();
  }
  if (sampled) record_.memory(recorder_, steps_);
  double took = now() - before;
  if (landed) {
    for (const LateLook& late : *landed) took += late.seconds;
  }
  if (asks || (landed && !landed->empty())) spending_.spend(spending_.statistics, took);
  return landed;
}

Result<std::vector<LateLook>> StepWatch::settle() {
  if (gpu_ == nullptr) return std::vector<LateLook>{};
  if (const auto shown = activations_.collect(recorder_, /*wait=*/true); !shown) return shown.error();
  return gpu_->collect(recorder_, parameters_.parameters(), /*wait=*/true);
}

GradientLook StepWatch::look_at_gradients(TensorSource& source, bool sampled) {
  const double before = now();
  const bool asked = sampled || options_.check_every_gradient;
  const bool second = parameters_.remembers_gradients();
  const bool all = asked || second || spending_.gradients.affords();
  const bool paired = second || (sampled && record_.begin_pair(steps_));
  GradientLook look = sampled ? parameters_.measure(source, paired)
                      : all   ? parameters_.look(source, paired)
                              : parameters_.look_at_small(source);
  // A bad value among the small ones is followed up at any price.
  if (!look.finite && !all) look = parameters_.look(source);
  if (sampled || second) {
    spending_.spend(spending_.statistics, now() - before);
  } else if (all && !asked) {
    spending_.spend(spending_.gradients, now() - before);
  }
  return look;
}

void StepWatch::begin_next() {
  ++steps_;
  spending_.at_step(steps_seen());
  activations_.with_histograms(activation_pace_.due(steps_seen()));
}

void StepWatch::tell_company(double seconds) {
  company_.left(seconds);
  if (company_.in_turns()) record_.in_turns(recorder_);
}

void StepWatch::mark_left() {
  aside_ = 0;
  left_ = now();
  at_work_left_ = at_work();
}

void StepWatch::leave() {
  const double own = traced_ + aside_;
  const double computing = std::max(0.0, arrived_ - left_ - own);
  recorder_.scalar(steps_, "step_time", computing);
  spending_.trained(computing);
  spending_.earn(computing, at_work_arrived_ - at_work_left_);
  tell_company(std::max(0.0, computing - company_.others_trained()));
  begin_next();
  mark_left();
  spending_.took(left_ - arrived_ + own);
}

void StepWatch::leave(double data, double forward, double backward, double optimizer) {
  forward = std::max(0.0, forward - traced_ - aside_);
  const double computing = forward + backward + optimizer;
  const double between = data;
  data = std::max(0.0, data - company_.others_trained());  // a generator waits for its critic, not for data
  recorder_.scalar(steps_, series_name::kTimeData, data);
  recorder_.scalar(steps_, series_name::kTimeForward, forward);
  recorder_.scalar(steps_, series_name::kTimeBackward, backward);
  recorder_.scalar(steps_, series_name::kTimeOptimizer, optimizer);
  recorder_.scalar(steps_, "step_time", data + computing);
  // A long pause (a validation, a checkpoint) earns no more than work does, or a burst of watching would follow it.
  spending_.earn(computing + std::min(data, computing), at_work() - at_work_left_);
  spending_.trained(data + computing);
  begin_next();
  const double before = left_;
  mark_left();
  spending_.took(std::max(0.0, left_ - before - between - computing));
  tell_company(std::max(0.0, left_ - before - between));
}

bool StepWatch::batch_due() {
  return batches_.due();
}

BatchFacts StepWatch::batch(const BatchView& view) {
  const double before = now();
  BatchFacts facts = batches_.look(view, steps_, recorder_);
  // The look at the batch is the monitor's time, not the loader's.
  const double spent = now() - before;
  spending_.took(spent);
  left_ += spent;
  at_work_left_ += spent;
  return facts;
}

BatchFacts StepWatch::validation_batch(const BatchView& view) {
  const double before = now();
  BatchFacts facts = validation_batches_.look(view, std::max<std::int64_t>(steps_ - 1, 0), recorder_);
  const double spent = now() - before;
  spending_.took(spent);
  left_ += spent;
  at_work_left_ += spent;
  return facts;
}

void StepWatch::validation(std::string_view name, double value) {
  // After step n training has seen n batches: the number of the newest step is n - 1.
  recorder_.scalar(std::max<std::int64_t>(steps_ - 1, 0), name, value);
  mark_left();  // what lies behind was validation, not training
}

void StepWatch::check(std::string_view series, double value) {
  recorder_.scalar(steps_, series, value);
}

bool StepWatch::has_news(bool findings) {
  return record_.tally().line_due() || (findings && news_.due(steps_, steps_seen() + 1, spending_));
}

std::vector<Observation> StepWatch::news() {
  if (!news_.due(steps_, steps_seen() + 1, spending_)) return {};
  return news_.take(recorder_, steps_seen() + 1, spending_);
}

std::vector<Observation> StepWatch::news_of_validation() {
  if (!news_.due_after_validation(spending_)) return {};
  const double before = now();
  std::vector<Observation> fresh = news_.take(recorder_, steps_seen(), spending_);
  mark_left();
  spending_.took(left_ - before);
  return fresh;
}

}  // namespace osler::monitor
