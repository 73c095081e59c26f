// TrainLoop: the state of a training under train(), and its steps.
#pragma once

#include <optional>
#include <vector>

#include "osler/torch/checkpoint.h"
#include "osler/torch/scheduler.h"
#include "osler/torch/train.h"
#include "torch/saved_state.h"
#include "torch/snapshot.h"

namespace osler::torch {

/// What is counted, and kept in checkpoints, beside the parts that keep themselves.
struct TrainCounts {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::int64_t in_epoch = 0;  // steps done in the running epoch
  std::int64_t monitored = 0;
  std::int64_t skipped = 0;
  std::int64_t skipped_in_a_row = 0;
  std::int64_t roll_backs = 0;
  std::int64_t best_step = 0;
  std::int64_t since_best = 0;  // validations
  bool ended_early = false;
  double loss = 0;
  std::optional<double> validation_loss;
  std::optional<double> best_loss;
};

class TrainLoop {
 public:
  TrainLoop(const Training& training, const Loader& data, const Loader* validation, TrainOptions options);
  TrainResult run();

 private:
  // Before the first step.
  void resume();
  void open_monitor();

  // While training.
  TrainEnd follow();
  std::optional<TrainEnd> after_step();
  std::optional<TrainEnd> finish_epoch();

  // One step.
  void step();
  void draw();
  at::Tensor loss_of(std::size_t batch) const;
  at::Tensor whole_loss() const;
  at::Tensor accumulate();
  enum class Gradients { good, overflowed, bad };
  Gradients unscale();
  void update(bool go);
  void keep_good();
  void roll_back();
  [[nodiscard]] bool lost() const;

  // Validation.
  bool validate();
  [[nodiscard]] std::vector<at::Tensor> weights() const;
  void keep_best();
  void put_best_back();

  // Checkpoints.
  void save();
  [[nodiscard]] CheckpointParts parts();
  [[nodiscard]] bool weights_are_finite() const;

  void tell_progress(bool at_the_end);

  const Training& training_;
  const Loader& data_;
  const Loader* validation_;
  TrainOptions options_;
  std::vector<at::Tensor> parameters_;
  std::int64_t steps_per_epoch_;
  ModuleModes modes_;  // as the user wants them in training
  Scheduler scheduler_;
  std::optional<LossScale> loss_scale_;
  TrainCounts counts_;
  std::vector<at::Tensor> best_;
  std::optional<Monitor> monitor_;
  std::optional<Snapshot> good_;
  std::int64_t good_step_ = 0;
  std::vector<Batch> batches_;  // of the running step
  std::vector<double> shares_;  // of each in the step's samples
  bool resumed_ = false;
  std::optional<Error> checkpoint_error_;
  double began_ = 0;
  double told_ = 0;
  std::int64_t first_step_ = 0;
};

}  // namespace osler::torch
