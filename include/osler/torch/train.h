// train(): a whole training under the monitor, from the first step or from where it was left.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "osler/torch/loss_scale.h"
#include "osler/torch/monitor.h"
#include "osler/torch/schedule.h"
#include "osler/torch/shuffled.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// How far a training is.
struct TrainProgress {
  std::int64_t epoch = 0;  ///< the running one, from 0
  std::int64_t epochs = 0;
  std::int64_t step = 0;  ///< steps done
  std::int64_t steps = 0;
  double loss = 0;  ///< of the newest step
  double rate = 0;  ///< of the first parameter group
  std::optional<double> validation_loss = std::nullopt;
  double seconds = 0;       ///< since train() was called
  double seconds_left = 0;  ///< at the pace so far
};
/// One line for a terminal, with a bar and the time that is left.
[[nodiscard]] std::string progress_line(const TrainProgress& progress);

/// When the validation loss no longer falls.
struct EarlyStopping {
  std::int64_t patience = 5;  ///< validations without a better loss before the training ends
  double least_gain = 0;      ///< how much better is better
};

/// What happens when steps are not finite. The monitor leaves each of them out.
struct RollBack {
  std::int64_t after = 5;         ///< steps left out in a row before going back to the last good state; 0: never
  double rate = 0.5;              ///< factor on the learning rate from there on
  std::int64_t most = 3;          ///< times; then the training is given up
  std::int64_t keep_every = 100;  ///< steps between good states; each is one copy of model and optimizer in memory
};

/// How to train. The default trains one epoch and validates after it.
struct TrainOptions {
  std::int64_t epochs = 1;
  std::int64_t accumulate = 1;  ///< batches whose gradients make one step
  Schedule schedule = {};       ///< by steps; the optimizer's own rate is the base
  std::optional<LossScaleOptions> loss_scale = {};
  RollBack roll_back = {};
  MonitorOptions monitor = {};  ///< sinks, clipping, the guard against NaN, classes

  std::int64_t validate_every = 0;  ///< steps; 0: after each epoch
  /// Numbers of a validation batch that is told beside the loss, such as its accuracy; averaged over the samples.
  std::function<std::vector<std::pair<std::string, double>>(const at::Tensor& outputs, const at::Tensor& targets)>
      metrics = {};
  std::optional<EarlyStopping> early_stopping = {};
  bool keep_best = true;  ///< with validation: the weights of the best one are put back at the end

  std::filesystem::path checkpoint = {};           ///< empty: none
  std::int64_t checkpoint_every = 0;               ///< steps; 0: after each epoch
  bool resume = true;                              ///< go on from the checkpoint where there is one
  std::map<std::string, std::string> fields = {};  ///< kept in the checkpoint

  std::function<void(const TrainProgress&)> on_progress = {};  ///< called now and then, and at the end
  double progress_every = 0.5;                                 ///< seconds
  std::stop_token stop = {};                                   ///< ends the training after the running step
};

/// Why a training ended.
enum class TrainEnd {
  finished,
  no_gain,  ///< early stopping
  stopped,  ///< by the stop token
  lost,     ///< not finite again and again, in spite of going back
};
[[nodiscard]] std::string_view to_string(TrainEnd end);

/// What came of it.
struct TrainResult {
  TrainEnd end = TrainEnd::finished;
  std::int64_t steps = 0;   ///< in all, with those before it was resumed
  std::int64_t epochs = 0;  ///< whole ones
  bool resumed = false;
  double loss = 0;  ///< of the newest step; NaN when there was none
  std::optional<double> validation_loss;
  std::optional<double> best_validation_loss;
  std::int64_t best_step = 0;
  std::int64_t skipped = 0;    ///< steps left out because they were not finite
  std::int64_t overflows = 0;  ///< steps left out to lower the loss scale
  std::int64_t roll_backs = 0;
  std::optional<Error> checkpoint_error;  ///< of the newest checkpoint, when it could not be written
  Report report;                          ///< the monitor's diagnosis at the end
};

/// The number of optimizer steps that `options` makes of this data: what schedules need to know.
[[nodiscard]] std::int64_t steps_of(const Loader& data, const TrainOptions& options);

/// Trains. Uses the model, the optimizer, `forward` and `loss` of `training`, and takes its batches from the loaders.
///
/// The model is in training mode in every step and in evaluation mode, without a graph, in every validation; modules
/// that the user has put into evaluation mode before stay in it. A checkpoint holds all that is needed to go on: a
/// training that was ended and resumed has the same weights, bit for bit, as one that was not.
///
/// Throws std::invalid_argument when something is missing or a checkpoint does not belong to this training. What the
/// user's functions throw passes through.
TrainResult train(const Training& training, const Loader& data, TrainOptions options);
/// The same with validation.
TrainResult train(const Training& training, const Loader& data, const Loader& validation, TrainOptions options);

}  // namespace osler::torch
