// Monitor::Work: the state of a monitor and the order in which a step is examined.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/budget.h"
#include "monitor/histogram_pace.h"
#include "monitor/resident_memory.h"
#include "monitor/step_tally.h"
#include "osler/recorder/recorder.h"
#include "osler/torch/monitor.h"
#include "torch/activation_trace.h"
#include "torch/batch_watch.h"
#include "torch/origin_trace.h"
#include "torch/parameter_book.h"
#include "torch/saved_state.h"
#include "torch/watch.h"

namespace osler::torch {

using monitor::Budget;
using monitor::ResidentMemory;

class Monitor::Work {
 public:
  Work(::torch::nn::Module& model, ::torch::optim::Optimizer& optimizer, MonitorOptions options, Recorder recorder);

  bool step(const at::Tensor& loss);
  bool train_step(const std::function<at::Tensor()>& compute_loss);
  void replay_with(std::function<at::Tensor()> compute_loss);
  void await_batch();
  void batch_ready();
  std::optional<BatchReport> batch(const at::Tensor& inputs, const at::Tensor& labels);
  void log(std::string_view name, double value);
  void validation_batch(const at::Tensor& output);
  void validation(double loss, const std::vector<std::pair<std::string, double>>& metrics);
  void epoch(std::int64_t number);
  void note(std::string_view text) { recorder_.mark(Mark::Kind::note, steps, std::string(text)); }
  void check(std::string_view series, double value);
  void config(std::string_view key, std::string_view value) { recorder_.config(key, value); }

  Report report(bool layers = false);
  [[nodiscard]] std::vector<std::string> quick_check() const;
  std::string summary();
  Result<void> close();

  /// Since this monitor began.
  [[nodiscard]] std::int64_t steps_seen() const { return steps - options_.first_step; }
  /// The share of these at which gradients were clipped.
  [[nodiscard]] double clipped_share() const {
    return steps_seen() == 0 ? 0 : static_cast<double>(clipped) / static_cast<double>(steps_seen());
  }

  std::int64_t steps = 0;
  std::int64_t skipped = 0;
  std::int64_t clipped = 0;
  StepTimes times;
  std::optional<double> gradient_norm;
  std::optional<NonfiniteOrigin> origin;

 private:
  // Before the first step.
  void tell_configuration();
  /// Which parameters are frozen and which nobody trains; where it is new.
  void tell_parameters();
  bool has_moved(const std::string& name, const at::Tensor& parameter);

  // The parts of a step, in this order.
  void require_use(const at::Tensor& loss) const;
  bool examine(const at::Tensor& loss);
  void finish_trace(double elapsed);
  void finish_updates();
  GradientLook look_at_gradients(bool sampled);
  [[nodiscard]] bool pair_due() const;
  void record_gradient_pair();
  void refuse(const at::Tensor& loss, double value, const GradientLook& look);
  void find_origin(const at::Tensor& loss, double value, const GradientLook& look);
  void replay(std::string& hint);
  [[nodiscard]] NonfiniteOrigin rough_origin(double loss, const GradientLook& look, const std::string& hint) const;
  void clip(const GradientLook& look);
  void throw_refusal();
  void record_histograms();
  void tell_line();
  void record_step(double loss, const GradientLook& look);
  void record_rates();
  void record_statistics();
  void record_memory();
  void compare_ranks(const GradientLook& look);
  void diagnose_live();
  void open_watch();

  void record_activations();
  void save_state();
  void require_steps() const;
  void tell_gradients_cleared(bool cleared);
  double waiting_for_data(double seconds);
  void tell(const Observation& observation);
  void account(double training_seconds);
  void account_own(double monitor_seconds);
  void spend(Budget& budget, double seconds);
  std::array<Budget*, 6> budgets();
  /// One of the first steps, which are looked at whatever the budget says.
  [[nodiscard]] bool early() const;
  [[nodiscard]] bool due(std::int64_t every, const Budget& budget) const;

  ::torch::nn::Module& model_;
  ::torch::optim::Optimizer& optimizer_;
  MonitorOptions options_;
  Recorder recorder_;
  ParameterBook book_;
  std::vector<at::Tensor> buffers_;
  BatchWatch batches_;
  at::Tensor inputs_;  // of the newest batch that was shown, and its labels
  at::Tensor labels_;
  std::function<at::Tensor()> replay_;
  bool closed_ = false;
  bool mode_matters_ = false;  // the model has layers that behave otherwise in evaluation

  // What replay needs.
  bool saved_ = false;  // the state before the step, as far as a replay needs it:
  HostRandomState host_random_before_;
  RandomState random_before_;  // of models that are not on the host
  BufferState buffers_before_;

  // Tracing.
  ActivationTrace trace_;
  std::unique_ptr<OriginTrace> always_;
  std::int64_t armed_ = 0;  // steps that are still to be followed after one that nobody could explain
  std::int64_t armed_so_far_ = 0;
  std::optional<Watch> watch_;
  std::map<std::string, stats::DeadUnitWindow, std::less<>> dead_;

  // Time.
  Budget gradient_budget_;
  Budget statistics_budget_;
  Budget trace_budget_;
  Budget diagnosis_budget_;
  Budget histogram_budget_;
  monitor::HistogramPace histogram_pace_;   // of weights and gradients
  monitor::HistogramPace activation_pace_;  // of activations
  monitor::StepTally tally_;
  std::string refusal_;             // what was wrong with the step that is examined
  double fixed_ = 0;                // what was spent beside the budgets and not yet set off against what they earn
  double bought_ = 0;               // what the budgets were spent on so far
  double early_spent_ = 0;          // on the first looks
  double training_ = 0;             // what training took so far
  double left_ = 0;                 // when the monitor was last left
  std::uint64_t graph_left_ = 0;    // how many graph nodes there were then: more tell that someone else computed
  std::uint64_t graph_before_ = 0;  // and when the newest step began
  double waited_ = 0;               // for data, in this step
  std::optional<double> asked_;     // for the next batch
  double traced_ = 0;               // by the trace inside the newest forward pass
  double usual_ = 0;                // what lies between opening a watch and the end of the forward pass without a trace
  double last_diagnosis_ = 0;
  double last_compute_ = 0;  // data and forward of the newest step, for the ranks
  ResidentMemory memory_;
  double last_memory_ = 0;  // when it was asked for
  std::int64_t last_memory_step_ = 0;
  std::int64_t remembered_step_ = 0;
  std::optional<std::int64_t> last_pair_;  // the step at which gradients were last remembered
  std::vector<stats::PairStats> pairs_;
  std::map<std::string, Severity> told_;  // by finding
  std::optional<bool> told_training_;     // the newest mode
  std::optional<bool> told_cleared_;      // whether the monitor clears the gradients itself
  std::map<std::string, double> told_checks_;
  std::map<std::string, double> fingerprints_;  // of parameters that this optimizer does not hold; NaN: they have moved
};

}  // namespace osler::torch
