// What every probe does around its measurements: check the training, keep it, end in time, put it back.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/run/experiment.h"
#include "osler/torch/preserved.h"
#include "osler/torch/training.h"

namespace osler::torch {

/// Thrown inside a probe when its time is up or a stop was asked for; never leaves `run_probe`.
class Ended : public std::exception {
 public:
  explicit Ended(bool asked) : asked_(asked) {}
  [[nodiscard]] const char* what() const noexcept override {
    return asked_ ? "A stop was asked for before the test had an answer."
                  : "The time was up before the test had an answer.";
  }

 private:
  bool asked_;
};

/// Watches a probe's limits.
class Clock {
 public:
  explicit Clock(const Limits& limits) : limits_(limits), begin_(std::chrono::steady_clock::now()) {}
  /// To be called at least once per forward pass. Throws Ended.
  void check() const;
  [[nodiscard]] double seconds() const;
  /// What is left of the limits, for a probe that another probe runs.
  [[nodiscard]] Limits left() const;

 private:
  Limits limits_;
  std::chrono::steady_clock::time_point begin_;
};

/// Runs `body` with gradients on, and puts the training back when it has ended, however it ended. An exception of the
/// training's own functions ends the experiment as `stopped`, with its message. Throws std::invalid_argument when the
/// training lacks forward, loss or batches.
[[nodiscard]] Experiment run_probe(std::string_view probe, const Training& training, const Limits& limits,
                                   const std::function<void(Experiment&, Preserved&, const Clock&)>& body);

/// Draws so many batches.
[[nodiscard]] std::vector<Batch> draw(const Training& training, std::size_t count);

/// One step of the optimizer on batches whose gradients are averaged; gives back their mean loss before the step. The
/// optimizer is asked with a closure, so that those that need one (LBFGS) work too.
double optimizer_step(const Training& training, ::torch::optim::Optimizer& optimizer, std::span<const Batch> batches);

/// The training as a loop would have it: switched to training mode if the whole model is in evaluation mode. Single
/// modules that are kept in evaluation mode on purpose stay there.
void switch_to_training(::torch::nn::Module& model);

/// The first line of a message of LibTorch's, without where in its own sources it arose.
[[nodiscard]] std::string first_line(std::string_view message);

}  // namespace osler::torch
