// A step under a monitor.
#include "monitor/step_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "monitor/clock.h"
#include "osler/diagnosis/diagnose.h"
#include "run/series_names.h"

namespace osler::monitor {
namespace {

constexpr std::size_t kPairsKept = 16;  // gradient pairs that the noise scale is estimated from
constexpr double kSecondsBetweenDiagnoses = 5;
/// Gradients are compared less often than measured, and the less often the longer the training lasts.
constexpr std::int64_t kStepsBetweenPairs = 8;
constexpr std::int64_t kPairsPerDoubling = 64;  // about so many for each doubling of the steps
/// Of the budget; the rest is left for what every step costs anyway and for what cannot be measured from inside.
constexpr double kGradientShare = 0.06;
constexpr double kStatisticsShare = 0.09;
constexpr double kTraceShare = 0.09;
constexpr double kDiagnosisShare = 0.04;
constexpr double kBatchShare = 0.2;
constexpr double kHistogramShare = 0.03;
/// The first steps are looked at whatever the budget says, every third of them, up to a bound.
constexpr std::int64_t kEarlyEvery = 3;
constexpr double kEarlySeconds = 2;
constexpr double kEarlyInSteps = 10;  // 1 % of a run of 1,000 steps

}  // namespace

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
      batches_(options.classes, options.batches_every, kBatchShare * options.budget),
      steps_(options.first_step),
      gradient_budget_(kGradientShare * options.budget),
      statistics_budget_(kStatisticsShare * options.budget),
      trace_budget_(kTraceShare * options.budget),
      diagnosis_budget_(kDiagnosisShare * options.budget),
      histogram_budget_(kHistogramShare * options.budget),
      histogram_pace_(options.histograms_every),
      activation_pace_(options.histograms_every),
      tally_(options.line_every) {
  activations_.with_histograms(activation_pace_.due(0));
  last_diagnosis_ = left_ = now();
}

void StepWatch::begin(TensorSource& source) {
  if (options_.batch_size) recorder_.config("batch_size", std::to_string(*options_.batch_size));
  if (options_.classes) recorder_.config("num_classes", std::to_string(*options_.classes));
  recorder_.layers(parameters_.layers());
  for (const ParameterInfo& parameter : parameters_.parameters()) {
    if (parameter.table) check(series_name::completed(series_name::kParameterTableOf, parameter.name), 1);
  }
  parameters_.record_start(recorder_, source);
  left_ = now();
}

void StepWatch::tell_parameters(const std::vector<bool>& trainable, const std::vector<bool>& optimized) {
  // Someone else may train what these optimizers do not hold, not on every step perhaps: only after so many steps is
  // that known.
  constexpr std::int64_t kStepsToKnow = 20;
  const bool known = steps_seen() >= kStepsToKnow;
  const auto tell = [&](const std::string& id, double value) {
    // What was never wrong need not be told of every parameter.
    const auto told = told_checks_.find(id);
    if (told == told_checks_.end() ? value == 0 : told->second == value) return;
    told_checks_[id] = value;
    check(id, value);
  };
  double left_out = 0;
  for (std::size_t i = 0; i < trainable.size() && i < parameters_.parameters().size(); ++i) {
    parameters_.tell(i, trainable[i], optimized[i]);
    const std::string& name = parameters_.parameters()[i].name;
    const bool missing = trainable[i] && !optimized[i] && !parameters_.has_moved(i);
    tell(series_name::completed(series_name::kParameterFrozenOf, name), trainable[i] ? 0 : 1);
    if (known) tell(series_name::completed(series_name::kParameterNotOptimizedOf, name), missing ? 1 : 0);
    if (missing) ++left_out;
  }
  if (!known) return;
  const auto told = told_checks_.try_emplace(std::string(series_name::kCheckParametersNotOptimized), -1).first;
  if (told->second != left_out) check(series_name::kCheckParametersNotOptimized, left_out);
  told->second = left_out;
}

bool StepWatch::early() const {
  const std::int64_t seen = steps_seen();
  if (options_.budget <= 0 || seen >= kFirstSteps || seen % kEarlyEvery != 0) return false;
  const double step = seen > 0 ? training_ / static_cast<double>(seen) : 0;
  return early_spent_ < std::max(kEarlySeconds, kEarlyInSteps * step);
}

bool StepWatch::due(std::int64_t every, const Budget& budget) const {
  if (every < 0) return false;
  return every > 0 ? steps_ % every == 0 : early() || budget.affords();
}

bool StepWatch::trace_due() const {
  return due(options_.trace_every, trace_budget_);
}

bool StepWatch::statistics_due() const {
  return due(options_.statistics_every, statistics_budget_);
}

void StepWatch::spend(Budget& budget, double seconds) {
  if (early()) {
    early_spent_ += seconds;
    budget.grant(seconds);
  }
  budget.spend(seconds);
}

void StepWatch::traced(double seconds, std::size_t operations) {
  constexpr double kAdapt = 0.1;
  constexpr double kMostBeside = 3;      // times what the trace measures
  constexpr double kMostToShow = 50e-6;  // seconds for an operation, which an interpreter shows to us
  const double elapsed = arrived_ - left_;
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
  spend(trace_budget_, now() - before + traced_);
}

void StepWatch::arrive() {
  arrived_ = now();
}

StepVerdict StepWatch::examine(double loss, TensorSource& source) {
  const bool sampled = statistics_due();
  const bool updated = parameters_.remembers();
  const GradientLook look = look_at_gradients(source, sampled);
  if (updated) {
    const double before = now();
    parameters_.record_updates(recorder_, remembered_step_, source);
    spend(statistics_budget_, now() - before);
  }
  record_pair();
  recorder_.scalar(steps_, "train/loss", loss);
  tally_.step(steps_, loss);
  StepVerdict verdict{std::isfinite(loss) && look.finite, look.first_bad, {}};
  if (look.complete) {
    verdict.norm = look.finite ? look.norm : std::nan("");
    recorder_.scalar(steps_, "grad_norm", *verdict.norm);
    tally_.norm(*verdict.norm);
  }
  if (!verdict.finite) {
    parameters_.forget();
  } else if (sampled) {
    const double before = now();
    parameters_.record(recorder_, steps_, source);
    record_memory();
    remembered_step_ = steps_;
    spend(statistics_budget_, now() - before);
    record_histograms(source);
  }
  return verdict;
}

void StepWatch::record_histograms(TensorSource& source) {
  if (!histogram_pace_.due(steps_seen())) return;
  if (options_.histograms_every == 0 && !histogram_budget_.affords()) return;
  const double before = now();
  parameters_.record_histograms(recorder_, steps_, source);
  histogram_pace_.took(steps_seen());
  histogram_budget_.spend(now() - before);
}

void StepWatch::late_loss(std::int64_t step, double loss) {
  recorder_.scalar(step, "train/loss", loss);
  tally_.step(step, loss);
}

void StepWatch::tell_clipping(double factor) {
  recorder_.scalar(steps_, "clipped", factor < 1 ? 1 : 0);
  recorder_.scalar(steps_, series_name::kClipFactor, factor);
  tally_.clipping(factor < 1);
}

void StepWatch::epoch(double number) {
  const auto mean = tally_.end_epoch();
  validation("epoch", number);
  if (mean) validation("train/loss_epoch", *mean);
}

void StepWatch::use_gpu(std::unique_ptr<stats::GpuEngine> engine) {
  gpu_ = std::make_unique<GpuLedger>(std::move(engine), parameters_.parameters().size());
}

Result<std::vector<LateLook>> StepWatch::look_later(TensorSource& source, void* stream) {
  const double before = now();
  auto landed = gpu_->collect(recorder_, parameters_.parameters());
  const bool sampled = statistics_due() || options_.check_every_gradient;
  const bool asks = sampled || gpu_->remembers(steps_);
  if (landed && asks) {
    if (const auto asked = gpu_->ask(source, steps_, sampled, stream); !asked) return asked.error();
  }
  if (sampled) record_memory();
  if (asks || (landed && !landed->empty())) spend(statistics_budget_, now() - before);
  return landed;
}

Result<std::vector<LateLook>> StepWatch::settle() {
  if (gpu_ == nullptr) return std::vector<LateLook>{};
  return gpu_->collect(recorder_, parameters_.parameters(), /*wait=*/true);
}

GradientLook StepWatch::look_at_gradients(TensorSource& source, bool sampled) {
  const double before = now();
  const bool asked = sampled || options_.check_every_gradient;
  const bool second = parameters_.remembers_gradients();
  const bool all = asked || second || gradient_budget_.affords();
  const bool paired = second || (sampled && pair_due());
  if (paired && !second) last_pair_ = steps_;
  GradientLook look = sampled ? parameters_.measure(source, paired)
                      : all   ? parameters_.look(source, paired)
                              : parameters_.look_at_small(source);
  // A bad value among the small ones is followed up at any price.
  if (!look.finite && !all) look = parameters_.look(source);
  if (sampled || second) {
    spend(statistics_budget_, now() - before);
  } else if (all && !asked) {
    spend(gradient_budget_, now() - before);
  }
  return look;
}

bool StepWatch::pair_due() const {
  const std::int64_t between = std::max(kStepsBetweenPairs, steps_seen() / kPairsPerDoubling);
  return !last_pair_ || steps_ - *last_pair_ >= between;
}

void StepWatch::record_pair() {
  const auto pair = parameters_.take_pair();
  if (!pair) return;
  // How much of the gradient before is in this one: all of it when gradients are never cleared.
  if (!told_cleared_.value_or(false)) check(series_name::kCheckGradientsCarried, pair->dot / pair->a_squared);
  pairs_.push_back(*pair);
  if (pairs_.size() > kPairsKept) pairs_.erase(pairs_.begin());
  if (!options_.batch_size || pairs_.size() < kPairsKept) return;
  const auto size = static_cast<double>(*options_.batch_size);
  // Where no signal is left the scale is infinite, which a curve cannot tell.
  constexpr double kMostBatches = 1e6;
  const double scale = stats::gradient_noise(pairs_, size).scale();
  recorder_.scalar(steps_, series_name::kGradientNoiseScale, std::min(scale, kMostBatches * size));
  recorder_.scalar(steps_, series_name::kBatchSize, size);
}

void StepWatch::record_memory() {
  // Asking the system takes some microseconds, which a quick step cannot spare every time; after many it need not.
  constexpr double kSecondsBetween = 0.1;
  constexpr std::int64_t kFewestStepsBetween = 4;
  constexpr std::int64_t kLooks = 32;  // about so many for each doubling of the steps
  const double time = now();
  const std::int64_t between = std::max(kFewestStepsBetween, steps_seen() / kLooks);
  if (time - last_memory_ < kSecondsBetween && steps_ - last_memory_step_ < between) return;
  last_memory_ = time;
  last_memory_step_ = steps_;
  if (const double bytes = memory_.bytes(); bytes > 0) recorder_.scalar(steps_, series_name::kMemoryResident, bytes);
}

void StepWatch::tell_state(const std::vector<double>& rates, std::optional<bool> training) {
  for (std::size_t i = 0; i < rates.size(); ++i) {
    recorder_.scalar(steps_, rates.size() == 1 ? "lr" : "lr/group" + std::to_string(i), rates[i]);
  }
  if (!rates.empty()) tally_.rate(rates.front());
  constexpr std::int64_t kSeldom = 64;  // the mode hardly ever changes: told when it does, and now and then
  if (!training || (told_training_ == training && steps_ % kSeldom != 0)) return;
  check(series_name::kCheckEvalModeInTraining, *training ? 0 : 1);
  told_training_ = training;
}

void StepWatch::begin_next() {
  ++steps_;
  activations_.with_histograms(activation_pace_.due(steps_seen()));
}

void StepWatch::tell_gradients_cleared(bool cleared) {
  if (told_cleared_ == cleared) return;
  told_cleared_ = cleared;
  check(series_name::kCheckGradientsCleared, cleared ? 1 : 0);
}

void StepWatch::tell_loss_kind(std::uint64_t kind) {
  losses_.step(kind);
  if (told_losses_ || !losses_.seen()) return;
  told_losses_ = true;
  recorder_.config("osler.losses", "in turns");
}

/// A player's loss goes where the other one drives it: the diagnosis has rules of its own for such runs.
void StepWatch::tell_company(double seconds) {
  company_.left(seconds);
  if (told_turns_ || !company_.in_turns()) return;
  told_turns_ = true;
  recorder_.config("osler.networks", "trained in turns");
}

void StepWatch::leave() {
  const double computing = std::max(0.0, arrived_ - left_ - traced_);
  recorder_.scalar(steps_, "step_time", computing);
  training_ += computing;
  account(computing);
  tell_company(std::max(0.0, computing - company_.others_trained()));
  begin_next();
  const double before = left_ = now();
  account_own(before - arrived_ + traced_);
}

void StepWatch::leave(double data, double forward, double backward, double optimizer) {
  forward = std::max(0.0, forward - traced_);
  const double computing = forward + backward + optimizer;
  const double between = data;
  data = std::max(0.0, data - company_.others_trained());  // a generator waits for its critic, not for data
  recorder_.scalar(steps_, series_name::kTimeData, data);
  recorder_.scalar(steps_, series_name::kTimeForward, forward);
  recorder_.scalar(steps_, series_name::kTimeBackward, backward);
  recorder_.scalar(steps_, series_name::kTimeOptimizer, optimizer);
  recorder_.scalar(steps_, "step_time", data + computing);
  // A long pause (a validation, a checkpoint) earns no more than work does, or a burst of watching would follow it.
  account(computing + std::min(data, computing));
  training_ += data + computing;
  begin_next();
  const double ended = now();
  account_own(std::max(0.0, ended - left_ - between - computing));
  tell_company(std::max(0.0, ended - left_ - between));
  left_ = ended;
}

void StepWatch::account(double training_seconds) {
  // What every step costs anyway is paid first; only the rest can be spent. Something is left even where there is no
  // rest, or nothing would ever be looked at.
  constexpr double kAlways = 0.25;
  if (options_.budget > 0) {
    training_seconds =
        std::max(kAlways * training_seconds, training_seconds - std::exchange(fixed_, 0) / options_.budget);
  }
  for (Budget* const budget : budgets()) budget->earn(training_seconds);
}

void StepWatch::account_own(double seconds) {
  own_ += seconds;
  double bought = 0;
  for (const Budget* const budget : budgets()) bought += budget->spent();
  fixed_ += std::max(0.0, seconds - (bought - bought_));
  bought_ = bought;
}

std::array<Budget*, 6> StepWatch::budgets() {
  return {&gradient_budget_,  &statistics_budget_, &trace_budget_,
          &diagnosis_budget_, &batches_.budget(),  &histogram_budget_};
}

bool StepWatch::batch_due() {
  return batches_.due();
}

BatchFacts StepWatch::batch(const BatchView& view) {
  const double before = now();
  BatchFacts facts = batches_.look(view, steps_, recorder_);
  // The look at the batch is the monitor's time, not the loader's.
  const double spent = now() - before;
  account_own(spent);
  left_ += spent;
  return facts;
}

void StepWatch::validation(std::string_view name, double value) {
  // After step n training has seen n batches: the number of the newest step is n - 1.
  recorder_.scalar(std::max<std::int64_t>(steps_ - 1, 0), name, value);
  left_ = now();  // what lies behind was validation, not training
}

void StepWatch::check(std::string_view series, double value) {
  recorder_.scalar(steps_, series, value);
}

std::vector<Observation> StepWatch::news() {
  const bool time = options_.diagnose_every > 0
                        ? (steps_ + 1) % options_.diagnose_every == 0
                        : options_.diagnose_every == 0 && now() - last_diagnosis_ > kSecondsBetweenDiagnoses &&
                              diagnosis_budget_.affords();
  if (!time) return {};
  const double before = now();
  std::vector<Observation> fresh;
  recorder_.visit([&](const Run& run) {
    const Result<Report> report = diagnose(run);
    if (!report) return;
    if (auto reason = judge_.look(*report, run); reason && !hopeless_) hopeless_ = std::move(reason);
    for (const Observation& observation : report->findings) {
      const auto [at, first] = told_findings_.emplace(observation.finding, observation.severity);
      if (!first && at->second >= observation.severity) continue;
      at->second = observation.severity;
      fresh.push_back(observation);
    }
  });
  last_diagnosis_ = now();
  diagnosis_budget_.spend(last_diagnosis_ - before);
  return fresh;
}

}  // namespace osler::monitor
