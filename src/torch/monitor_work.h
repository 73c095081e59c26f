// Monitor::Work: the state of a monitor and the order in which a step is examined.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/company.h"
#include "monitor/histogram_pace.h"
#include "monitor/news.h"
#include "monitor/spending.h"
#include "monitor/step_record.h"
#include "osler/recorder/recorder.h"
#include "osler/torch/monitor.h"
#include "torch/activation_trace.h"
#include "torch/batch_watch.h"
#include "torch/origin_trace.h"
#include "torch/parameter_book.h"
#include "torch/saved_state.h"
#include "torch/watch.h"

namespace osler::torch {

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
  void refuse(const at::Tensor& loss, double value, const GradientLook& look);
  void find_origin(const at::Tensor& loss, double value, const GradientLook& look);
  void replay(std::string& hint);
  [[nodiscard]] NonfiniteOrigin rough_origin(double loss, const GradientLook& look, const std::string& hint) const;
  void clip(const GradientLook& look);
  void throw_refusal();
  void record_histograms();
  void tell_line();
  void record_step(double loss, const GradientLook& look);
  void record_statistics();
  void compare_ranks(const GradientLook& look);
  /// Whom the loss of this step has used, and whether losses or networks take turns.
  void tell_turns(const at::Tensor& loss);
  [[nodiscard]] bool listened_to() const { return options_.on_finding || options_.on_line; }
  void diagnose_live();
  void open_watch();

  void record_activations();
  void save_state();
  void require_steps() const;
  double waiting_for_data(double seconds);
  /// Watching took so long.
  void took(double seconds) {
    times.monitor += seconds;
    spending_.took(seconds);
    times.early = spending_.early_spent();
  }
  void tell(const Observation& observation);
  [[nodiscard]] bool due(std::int64_t every, const monitor::Budget& budget) const {
    return spending_.due(steps, every, budget);
  }

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
  monitor::Spending spending_;
  monitor::News news_;
  monitor::StepRecord record_;
  std::shared_ptr<monitor::Company> company_;  // also known to the other monitors of this thread
  monitor::HistogramPace histogram_pace_;      // of weights and gradients
  monitor::HistogramPace activation_pace_;     // of activations
  std::string refusal_;                        // what was wrong with the step that is examined
  double left_ = 0;                            // when the monitor was last left
  std::uint64_t graph_left_ = 0;    // how many graph nodes there were then: more tell that someone else computed
  std::uint64_t graph_before_ = 0;  // and when the newest step began
  double waited_ = 0;               // for data, in this step
  std::optional<double> asked_;     // for the next batch
  double traced_ = 0;               // by the trace inside the newest forward pass
  double usual_ = 0;                // what lies between opening a watch and the end of the forward pass without a trace
  double last_compute_ = 0;         // data and forward of the newest step, for the ranks
  std::int64_t remembered_step_ = 0;
  std::map<std::string, double> fingerprints_;  // of parameters that this optimizer does not hold; NaN: they have moved
};

}  // namespace osler::torch
