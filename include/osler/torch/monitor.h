// Monitor: Osler inside a LibTorch training loop.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "osler/diagnosis/report.h"
#include "osler/recorder/sink.h"
#include "osler/run/experiment.h"
#include "osler/torch/batch_check.h"
#include "osler/torch/origin.h"
#include "osler/torch/ranks.h"

namespace osler::torch {

/// How a monitor works. The default is meant to be right.
struct MonitorOptions {
  std::string name = "training";      ///< display name
  std::filesystem::path run_file;     ///< where to keep the run; empty: nowhere
  std::vector<SinkPointer> sinks;     ///< further places to write to
  std::int64_t first_step = 0;        ///< the number of the first step: of a training that goes on, where it was
  double budget = 0.02;               ///< share of the training time that watching may take
  std::int64_t statistics_every = 0;  ///< steps between statistics of all parameters; 0: as the budget allows
  std::int64_t trace_every = 0;       ///< steps between looks at activations; 0: as the budget allows, -1: never
  std::int64_t batches_every = 0;     ///< one batch of so many is looked at; 0: as the budget allows, -1: none
  std::int64_t diagnose_every = 0;  ///< steps between diagnoses; 0: every few seconds, as the budget allows, -1: never
  /// Steps between histograms of weights, gradients and activations, at least: they are taken at looks that are made
  /// anyway. 0: a dozen for each doubling of the steps, as the budget allows; -1: never.
  std::int64_t histograms_every = 0;
  std::int64_t line_every = 0;  ///< steps between lines on how it goes, told to on_line; 0: none

  std::optional<double> clip_norm;      ///< clip gradients to this global norm
  std::optional<double> clip_value;     ///< clip gradients to this magnitude, element by element
  std::optional<double> clip_adaptive;  ///< clip each unit's gradient to this share of its weights (see clip.h)
  bool skip_nonfinite = true;           ///< step() says no when the loss or a gradient is not finite
  bool throw_nonfinite = false;  ///< step() throws NonfiniteError then, when all has been recorded: for those who want
                                 ///< the training to end there
  /// Look at every gradient element on every step, whatever it costs. Otherwise the small tensors, and large ones of
  /// layers that have no small one (embeddings), are looked at on every step and the rest as the budget allows; a NaN
  /// of the backward pass reaches the small tensors nearly always.
  bool check_every_gradient = false;
  bool trace_always = false;  ///< follow non-finite values on every step: slow, but needs no replay

  std::optional<std::int64_t> classes;                 ///< of a classifier: the first loss is held against ln(classes)
  std::optional<std::int64_t> batch_size;              ///< samples in a step, for the gradient noise scale
  std::function<void(const Observation&)> on_finding;  ///< told of every finding when it is new or got worse
  std::function<void(const std::string&)> on_line;     ///< told in a line of text of what is more than a note
  std::optional<Ranks> ranks;
  std::int64_t ranks_every = 50;  ///< steps between comparisons of ranks; the same on every rank
};

/// A loss or a gradient was not finite; what() says which, where it came from, and at which step.
class NonfiniteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where the time of the steps went, in seconds over the whole run.
struct StepTimes {
  /// Waiting for the batch. With step() alone everything outside the monitor counts as `other`; so does what lies
  /// between two calls of train_step() when another network was trained meanwhile.
  double data = 0;
  double forward = 0;
  double backward = 0;
  double optimizer = 0;
  double other = 0;
  double monitor = 0;  ///< what watching took
  double early = 0;    ///< of it, the close looks at the first steps and the diagnoses that tell what they saw

  /// What watching took, as a share of the rest.
  [[nodiscard]] double monitor_share() const;
};

/// Watches one model trained by one optimizer. For the thread that trains. As everywhere in LibTorch, wrong use throws:
/// std::invalid_argument with what is wrong and what to do.
///
///     osler::torch::Monitor monitor(*model, optimizer);
///     ...
///     loss.backward();
///     if (monitor.step(loss)) optimizer.step();
///
/// or, with the origin of a NaN by replay and the step's times:
///
///     monitor.train_step([&] { return loss_of(model->forward(x), y); });
class Monitor {
 public:
  /// The model and the optimizer must outlive the monitor. Throws when the model has no parameters, when the optimizer
  /// holds none of them, and when an option is a number that means nothing. Others may train parts of the model too,
  /// and the optimizer may train other models as well: those are not watched.
  Monitor(::torch::nn::Module& model, ::torch::optim::Optimizer& optimizer, MonitorOptions options = {});
  Monitor(Monitor&&) noexcept;
  Monitor& operator=(Monitor&&) noexcept;
  /// Closes the run.
  ~Monitor();

  /// To be called between backward() and optimizer.step(). True: go on with optimizer.step(). False: the loss or a
  /// gradient is not finite; the gradients are cleared, running statistics are as before the step, leave it out.
  /// Without replay_with() the origin is told roughly: batch (where it was shown), weights, forward or backward pass.
  [[nodiscard]] bool step(const at::Tensor& loss);
  /// One whole step: clears gradients, computes the loss and its backward pass, checks, and lets the optimizer step.
  /// When something is not finite, the step is run again under the tracer: the function must give the same loss a
  /// second time, so draw the batch outside of it. True: the optimizer has stepped. Not for LBFGS.
  bool train_step(const std::function<at::Tensor()>& compute_loss);
  /// For step(): how to compute the loss of the current batch again, so that the origin of a NaN can be found. It is
  /// called only when a step was not finite. An empty function: what was given no longer holds.
  void replay_with(std::function<at::Tensor()> compute_loss);
  /// For step(): the next batch is asked for, and it is there. What lies between is the waiting for data; without the
  /// first call it is not known, because the optimizer steps outside the monitor.
  void await_batch();
  void batch_ready();

  /// Shows a batch before it is used. It is looked at, or passed over where the budget is spent: then nothing is
  /// returned. For a look at one batch at any price see validate_batch.
  std::optional<BatchReport> batch(const at::Tensor& inputs, const at::Tensor& labels = {});
  /// A number of the user's own: "train/accuracy".
  void log(std::string_view name, double value);
  /// The output of a validation batch: checks the model's mode and that no graph is built.
  void validation_batch(const at::Tensor& output);
  /// The result of a validation.
  void validation(double loss, const std::vector<std::pair<std::string, double>>& metrics = {});
  /// The end of an epoch: the mean of its losses is recorded as well.
  void epoch(std::int64_t number);
  /// A remark of the user's own at this step; reports and charts show it.
  void note(std::string_view text);
  /// A checkpoint was written; `with_scheduler`: the learning rate schedule's state is in it.
  void checkpoint(bool with_scheduler);
  /// The share of validation samples that are in the training set too (see shared_samples).
  void split_overlap(double share);
  /// The share of validation samples that differ when they are loaded twice (see changed_samples).
  void validation_changes(double share);
  void config(std::string_view key, std::string_view value);
  /// What an active test on this training found; the run keeps the newest of each probe, and the report weighs it.
  /// Without a step of its own it is that of the newest step.
  void experiment(const Experiment& experiment);

  /// The diagnosis of the run so far.
  [[nodiscard]] Report report();
  /// Every layer from input to output: gradient, weight, update, dead and saturated units, and whether it is well.
  /// osler::render_layers prints the report that has it.
  [[nodiscard]] LayerTable layers();
  /// What is wrong right now with parameters, gradients, optimizer and mode, one sentence each; empty when all is well.
  [[nodiscard]] std::vector<std::string> quick_check() const;
  /// A few lines on the run so far.
  [[nodiscard]] std::string summary();

  /// The number of the next step: how many there were, unless the first had another number than 0.
  [[nodiscard]] std::int64_t steps() const;
  [[nodiscard]] std::int64_t skipped() const;
  [[nodiscard]] StepTimes times() const;
  /// The share of the steps at which gradients were clipped.
  [[nodiscard]] double clipped_share() const;
  /// The global gradient norm of the newest step at which it was measured, before clipping.
  [[nodiscard]] std::optional<double> gradient_norm() const;
  /// Where the newest non-finite value came from.
  [[nodiscard]] const std::optional<NonfiniteOrigin>& origin() const;

  /// Writes what waits and closes the sinks; step() throws from here on. Fine to call twice.
  Result<void> close();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace osler::torch
