// Scheduler: from a schedule's numbers to the options of LibTorch's optimizers.
#include "osler/torch/scheduler.h"

#include <fmt/format.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <stdexcept>
#include <utility>

namespace osler::torch {
namespace {

namespace optim = ::torch::optim;

/// Sets momentum, or what stands for it; false where there is none.
bool set_momentum(optim::OptimizerOptions& options, double momentum) {
  const auto set_beta = [&](auto* adam) {
    if (adam) adam->betas(std::make_tuple(momentum, std::get<1>(adam->betas())));
    return adam != nullptr;
  };
  const auto set_plain = [&](auto* known) {
    if (known) known->momentum(momentum);
    return known != nullptr;
  };
  return set_plain(dynamic_cast<optim::SGDOptions*>(&options)) ||
         set_plain(dynamic_cast<optim::RMSpropOptions*>(&options)) ||
         set_beta(dynamic_cast<optim::AdamOptions*>(&options)) ||
         set_beta(dynamic_cast<optim::AdamWOptions*>(&options));
}

double rate_of(const optim::OptimizerParamGroup& group) {
  try {
    return group.options().get_lr();
  } catch (const std::exception& error) {
    throw std::invalid_argument("osler: the optimizer's options tell no learning rate; override get_lr and set_lr: " +
                                std::string(error.what()));
  }
}

}  // namespace

Scheduler::Scheduler(optim::Optimizer& optimizer, Schedule schedule)
    : optimizer_(&optimizer), schedule_(std::move(schedule)) {
  state_.schedule = schedule_.description();
  state_.rates = rates();
  apply();
}

void Scheduler::step() {
  ++state_.step;
  apply();
}

void Scheduler::dampen(double factor) {
  state_.damping *= factor;
  apply();
}

void Scheduler::apply() {
  std::vector<optim::OptimizerParamGroup>& groups = optimizer_->param_groups();
  if (groups.size() != state_.rates.size()) {
    throw std::invalid_argument(
        fmt::format("osler: the optimizer had {} parameter groups when its scheduler was made and has {} now; make the "
                    "scheduler after add_param_group",
                    state_.rates.size(), groups.size()));
  }
  const ScheduledSetting setting = schedule_.at(state_.step);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].options().set_lr(state_.rates[i] * setting.rate * state_.damping);
    if (setting.momentum && !set_momentum(groups[i].options(), *setting.momentum)) {
      throw std::invalid_argument(
          "osler: the schedule moves momentum and this optimizer has none; leave the schedule's momentum empty");
    }
  }
}

std::vector<double> Scheduler::rates() const {
  std::vector<double> rates;
  for (const optim::OptimizerParamGroup& group : optimizer_->param_groups()) rates.push_back(rate_of(group));
  return rates;
}

void Scheduler::load(const SchedulerState& state) {
  if (state.schedule != schedule_.description()) {
    throw std::invalid_argument("osler: the state is of the schedule " + state.schedule + ", this one is " +
                                schedule_.description());
  }
  if (state.rates.size() != state_.rates.size()) {
    throw std::invalid_argument(fmt::format("osler: the state is of {} parameter groups, the optimizer has {}",
                                            state.rates.size(), state_.rates.size()));
  }
  state_ = state;
  apply();
}

}  // namespace osler::torch
