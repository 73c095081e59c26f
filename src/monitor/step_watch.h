// StepWatch: what a monitor does in a step, whatever the framework: what is looked at, in which order, at what cost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/activation_ledger.h"
#include "monitor/batch_ledger.h"
#include "monitor/budget.h"
#include "monitor/company.h"
#include "monitor/gpu_ledger.h"
#include "monitor/histogram_pace.h"
#include "monitor/loss_graph.h"
#include "monitor/news.h"
#include "monitor/parameter_ledger.h"
#include "monitor/spending.h"
#include "monitor/step_record.h"
#include "monitor/tensor_source.h"
#include "osler/diagnosis/report.h"
#include "osler/recorder/recorder.h"
#include "run/series_names.h"

namespace osler::monitor {

/// How a training is watched. The default is meant to be right.
struct WatchOptions {
  std::int64_t first_step = 0;        ///< the number of the first step: of a training that goes on, where it was
  double budget = 0.02;               ///< share of the training time that watching may take
  std::int64_t statistics_every = 0;  ///< steps between statistics of all parameters; 0: as the budget allows
  std::int64_t trace_every = 0;       ///< steps between looks at activations; 0: as the budget allows, -1: never
  std::int64_t batches_every = 0;     ///< one batch of so many is looked at; 0: as the budget allows, -1: none
  std::int64_t diagnose_every = 0;  ///< steps between diagnoses; 0: every few seconds, as the budget allows, -1: never
  std::int64_t histograms_every = 0;       ///< steps between histograms, at least; 0: as the budget allows, -1: never
  std::int64_t line_every = 0;             ///< steps between the lines that `line` gives; 0: never
  bool check_every_gradient = false;       ///< look at every gradient element on every step, whatever it costs
  std::optional<std::int64_t> classes;     ///< of a classifier
  std::optional<std::int64_t> batch_size;  ///< samples in a step, for the gradient noise scale
  unsigned threads = 0;                    ///< that measure beside the training's own
};

/// What is wrong with options, in a sentence; empty when nothing is.
[[nodiscard]] std::string fault_of(const WatchOptions& options);

/// What a step was like.
struct StepVerdict {
  bool finite = true;          ///< the loss and the gradients, as far as they were looked at
  std::string first_bad;       ///< the parameter nearest to the output whose gradient is not finite
  std::optional<double> norm;  ///< of all gradients, when they were looked at
};

/// Watches one training. For the thread that trains.
class StepWatch {
 public:
  /// `parameters`: in the model's order.
  StepWatch(const WatchOptions& options, Recorder recorder, std::vector<ParameterInfo> parameters);

  /// Before the first step: records the structure and how the weights start.
  void begin(TensorSource& source);
  /// Which parameters are trained and which an optimizer holds; recorded where it is new. One that none holds counts as
  /// left out when it has not moved for some steps: an optimizer that nobody told of may train it.
  void tell_parameters(const std::vector<bool>& trainable, const std::vector<bool>& optimized);

  /// Whether the forward pass that comes is to be shown to `activations`.
  [[nodiscard]] bool trace_due() const;
  /// The forward pass that was shown, or would have been, is over. `operations`: how many were shown, `seconds`: how
  /// long it took to measure them; both 0 when none were.
  void traced(double seconds, std::size_t operations);
  [[nodiscard]] ActivationLedger& activations() { return activations_; }

  /// The loop has come back to the monitor, with gradients.
  void arrive();
  /// Whether `examine` will measure all parameters, so that it is worth telling which are trained.
  [[nodiscard]] bool statistics_due() const;
  /// Whether the graph of the loss is worth a look: `tell_loss`.
  [[nodiscard]] bool loss_due() const { return steps_seen() < Spending::kFirstSteps && statistics_due(); }
  /// The graph of the loss, the loss's own node first.
  void tell_loss(std::span<const LossNode> nodes) {
    check(series_name::kCheckOutputsSquashedTwice, squashed_twice(nodes) ? 1 : 0);
  }
  /// Whether each output was compared with the targets of all samples, and whether a softmax ran along the samples.
  void tell_shapes(bool all_with_all, bool over_samples) {
    check(series_name::kCheckTargetsBroadcast, all_with_all ? 1 : 0);
    check(series_name::kCheckSoftmaxOverSamples, over_samples ? 1 : 0);
  }
  /// Whether it is still to be found out if losses take turns: `tell_loss_kind`, on every step.
  [[nodiscard]] bool loss_kind_due() const { return steps_seen() < Spending::kFirstSteps && options_.budget > 0; }
  /// A number that is the same for losses that are computed alike, from the same outputs.
  void tell_loss_kind(std::uint64_t kind) { record_.loss_kind(recorder_, kind); }
  /// Looks at the step.
  StepVerdict examine(double loss, TensorSource& source);
  /// From now on the parameters are measured on their GPU, by `look_later` in place of `examine`.
  void use_gpu(std::unique_ptr<stats::GpuEngine> engine);
  [[nodiscard]] const GpuLedger* gpu() const { return gpu_.get(); }
  /// Records what has landed of earlier steps, and queues a sample of this one on the stream when it is due. Waits for
  /// nothing. An error when the GPU cannot measure any more.
  Result<std::vector<LateLook>> look_later(TensorSource& source, void* stream);
  /// Records all that is still under way, at the end.
  Result<std::vector<LateLook>> settle();
  /// The loss of an earlier step, which has only now come from the GPU.
  void late_loss(std::int64_t step, double loss);
  /// A number of an earlier step.
  void late_scalar(std::int64_t step, std::string_view name, double value) { recorder_.scalar(step, name, value); }
  /// Records the rates of the parameter groups and the model's mode (nothing where it does not matter).
  void tell_state(const std::vector<double>& rates, std::optional<bool> training) {
    record_.state(recorder_, steps_, rates, training);
  }
  /// By what the gradients of this step were multiplied to clip them; 1: they were small enough.
  void tell_clipping(double factor);
  /// The line for people who watch a terminal, where one is due.
  [[nodiscard]] std::optional<std::string> take_line() { return record_.tally().take_line(); }
  /// The model has computed something to learn from, in a step of its own or of another network; `seconds`: how long
  /// the monitor has kept it from that.
  void used(double seconds) {
    company_.used();
    aside_ += seconds;
  }
  /// Whether the monitor clears the gradients itself, whatever they look like.
  void tell_gradients_cleared(bool cleared) { record_.gradients_cleared(recorder_, steps_, cleared); }
  /// The step is over: the next begins.
  void leave();
  /// As `leave`, of a step that was run by the monitor itself, with its parts in seconds. `data` lies between two
  /// steps: waiting for a batch, but for what other watches of this thread have trained meanwhile.
  void leave(double data, double forward, double backward, double optimizer);

  /// Whether the next batch is to be looked at; asked once for each.
  bool batch_due();
  BatchFacts batch(const BatchView& view);
  /// The same of a batch of validation.
  bool validation_batch_due() { return validation_batches_.due(); }
  BatchFacts validation_batch(const BatchView& view);

  void scalar(std::string_view name, double value) { recorder_.scalar(steps_, name, value); }
  /// The result of a validation: at the step that was done last.
  void validation(std::string_view name, double value);
  /// A fact that findings ask for, under one of the names in run/series_names.h.
  void check(std::string_view series, double value);
  void note(const std::string& text) { recorder_.mark(Mark::Kind::note, steps_, text); }
  /// An epoch is over: records its number and the mean of its losses.
  void epoch(double number);

  /// Whether `take_line` or, where somebody wants to know of `findings`, `news` have something to do.
  [[nodiscard]] bool has_news(bool findings);
  /// Findings that are new or got worse, when it is time to ask; empty otherwise. Before `leave`.
  std::vector<Observation> news();
  /// The same after the numbers of a validation have been told.
  std::vector<Observation> news_of_validation();
  /// Why it is of no use to go on, once the diagnoses of news() have confirmed it on later data (StopRule).
  [[nodiscard]] const std::optional<StopReason>& hopeless() const { return news_.hopeless(); }

  [[nodiscard]] Recorder& recorder() { return recorder_; }
  /// The number of the next step.
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// What watching took, as a share of the rest.
  [[nodiscard]] double share() const { return spending_.training() > 0 ? spending_.own() / spending_.training() : 0; }
  /// In seconds, what watching took in all.
  [[nodiscard]] double own_seconds() const { return spending_.own(); }
  /// In seconds, what the first looks took of it.
  [[nodiscard]] double early_seconds() const { return spending_.early_spent(); }

 private:
  [[nodiscard]] std::int64_t steps_seen() const { return steps_ - options_.first_step; }
  [[nodiscard]] bool due(std::int64_t every, const Budget& budget) const;
  void tell_company(double seconds);
  GradientLook look_at_gradients(TensorSource& source, bool sampled);
  void record_histograms(TensorSource& source);
  void begin_next();
  void mark_left();

  WatchOptions options_;
  Recorder recorder_;
  ParameterLedger parameters_;
  std::unique_ptr<GpuLedger> gpu_;
  ActivationLedger activations_;
  BatchLedger batches_;
  BatchLedger validation_batches_;
  Company company_;
  std::int64_t steps_ = 0;

  Spending spending_;
  News news_;
  StepRecord record_;
  HistogramPace histogram_pace_;   // of weights and gradients
  HistogramPace activation_pace_;  // of activations
  double left_ = 0;                // when the monitor was last left
  double arrived_ = 0;
  double at_work_left_ = 0;  // the same by the time for which the thread was at work
  double at_work_arrived_ = 0;
  double aside_ = 0;   // by the monitor since then, outside of the trace
  double traced_ = 0;  // by the trace inside the newest forward pass
  double usual_ = 0;   // what lies between two steps without a trace
  std::int64_t remembered_step_ = 0;
};

}  // namespace osler::monitor
