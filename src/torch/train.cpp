// train(): checks what it is given, then follows the loop.
#include "osler/torch/train.h"

#include <fmt/format.h>
#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "torch/train_loop.h"

namespace osler::torch {
namespace {

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::invalid_argument("osler: " + otherwise);
}

void require_loader(const Loader& loader, const std::string& name) {
  require(loader.batches > 0 && loader.batch, "the loader of the " + name + " has no batches");
}

void require_sense(const Training& training, const Loader& data, const TrainOptions& options) {
  require(static_cast<bool>(training.forward) && static_cast<bool>(training.loss),
          "train() needs the functions forward and loss of the training");
  require_loader(data, "training data");
  require(options.epochs >= 0, fmt::format("a training of {} epochs cannot be", options.epochs));
  require(options.accumulate >= 1, fmt::format("a step takes at least one batch, not {}", options.accumulate));
  require(options.validate_every >= 0 && options.checkpoint_every >= 0,
          "validations and checkpoints come every so many steps, or with 0 after each epoch");
  require(options.roll_back.after >= 0 && options.roll_back.most >= 0 && options.roll_back.keep_every >= 1 &&
              options.roll_back.rate > 0 && options.roll_back.rate <= 1,
          "going back needs a rate above 0 and up to 1, and counts that are not negative");
  require(!options.early_stopping || options.early_stopping->patience >= 1,
          "early stopping needs a patience of at least one validation");
  require(dynamic_cast<const ::torch::optim::LBFGS*>(&training.optimizer) == nullptr,
          "LBFGS evaluates the loss several times in a step; train() works with optimizers that do it once");
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::clamp(seconds, 0.0, 1e9)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string_view to_string(TrainEnd end) {
  switch (end) {
    case TrainEnd::finished:
      return "finished";
    case TrainEnd::no_gain:
      return "no-gain";
    case TrainEnd::stopped:
      return "stopped";
    case TrainEnd::lost:
      return "lost";
  }
  return "";
}

std::string progress_line(const TrainProgress& progress) {
  constexpr std::size_t kWidth = 20;
  const double share =
      progress.steps > 0 ? static_cast<double>(progress.step) / static_cast<double>(progress.steps) : 1;
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kWidth);
  std::string line = fmt::format("epoch {}/{} [{}{}] {:3.0f} % step {}/{} loss {:.4g}", progress.epoch + 1,
                                 progress.epochs, std::string(full, '#'), std::string(kWidth - full, '-'), 100 * share,
                                 progress.step, progress.steps, progress.loss);
  if (progress.validation_loss) line += fmt::format(" validation {:.4g}", *progress.validation_loss);
  line += fmt::format(" rate {:.3g}, {} gone, {} left", progress.rate, clock_time(progress.seconds),
                      clock_time(progress.seconds_left));
  return line;
}

std::int64_t steps_of(const Loader& data, const TrainOptions& options) {
  require(options.accumulate >= 1, fmt::format("a step takes at least one batch, not {}", options.accumulate));
  return options.epochs * ((data.batches + options.accumulate - 1) / options.accumulate);
}

TrainResult train(const Training& training, const Loader& data, TrainOptions options) {
  require_sense(training, data, options);
  return TrainLoop(training, data, nullptr, std::move(options)).run();
}

TrainResult train(const Training& training, const Loader& data, const Loader& validation, TrainOptions options) {
  require_sense(training, data, options);
  require_loader(validation, "validation data");
  return TrainLoop(training, data, &validation, std::move(options)).run();
}

}  // namespace osler::torch
