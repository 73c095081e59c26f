// Scheduler: sets the learning rate, and the momentum, of an optimizer as a schedule says.
#pragma once

#include <torch/optim/optimizer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "osler/torch/schedule.h"

namespace osler::torch {

/// Where a scheduler stands. Kept in checkpoints.
struct SchedulerState {
  std::string schedule;  ///< its description
  std::int64_t step = 0;
  double damping = 1;
  std::vector<double> rates;  ///< of each group, before any schedule

  friend bool operator==(const SchedulerState&, const SchedulerState&) = default;
};

/// Applies one schedule to every group of an optimizer; each group keeps its own base rate. As everywhere in LibTorch,
/// wrong use throws: std::invalid_argument.
///
///     osler::torch::Scheduler scheduler(optimizer, osler::torch::warmup_cosine({.warmup = 100, .steps = 5000}));
///     ...
///     optimizer.step();
///     scheduler.step();
class Scheduler {
 public:
  /// Takes the rates of the optimizer's groups as they are, and sets those of the first step. The optimizer must
  /// outlive the scheduler. Throws when a group has no rate, or no momentum though the schedule moves it.
  Scheduler(::torch::optim::Optimizer& optimizer, Schedule schedule);

  /// To be called after optimizer.step(): sets what the next step needs.
  void step();
  /// Multiplies this and every later rate, on top of the schedule.
  void dampen(double factor);
  /// Sets the optimizer's rates again, after something else has changed them.
  void apply();

  /// The number of the next step.
  [[nodiscard]] std::int64_t steps() const { return state_.step; }
  /// The rate of each group as it is set now.
  [[nodiscard]] std::vector<double> rates() const;
  [[nodiscard]] const SchedulerState& state() const { return state_; }
  /// Goes on from `state`. Throws when it belongs to another schedule or another number of groups.
  void load(const SchedulerState& state);

 private:
  ::torch::optim::Optimizer* optimizer_;
  Schedule schedule_;
  SchedulerState state_;
};

}  // namespace osler::torch
