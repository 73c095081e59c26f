// The scheduler on LibTorch's optimizers: rates of every group, momentum, state.
#include "osler/torch/scheduler.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <stdexcept>

namespace osler::torch {
namespace {

namespace optim = ::torch::optim;

at::Tensor parameter() {
  return at::zeros({1}).requires_grad_();
}

TEST(Scheduler, SetsTheRateOfEveryGroupAsAShareOfItsOwn) {
  optim::SGD optimizer({parameter()}, optim::SGDOptions(0.1));
  optimizer.add_param_group(
      optim::OptimizerParamGroup({parameter()}, std::make_unique<optim::SGDOptions>(optim::SGDOptions(0.01))));
  Scheduler scheduler(optimizer, step_decay({.every = 2, .factor = 0.5}));
  std::vector<double> first;
  std::vector<double> second;
  for (int step = 0; step < 6; ++step) {
    first.push_back(scheduler.rates()[0]);
    second.push_back(scheduler.rates()[1]);
    scheduler.step();
  }
  EXPECT_EQ(first, (std::vector<double>{0.1, 0.1, 0.05, 0.05, 0.025, 0.025}));
  EXPECT_EQ(second, (std::vector<double>{0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025}));
}

TEST(Scheduler, SetsTheRateOfEveryOptimizer) {
  const std::vector<at::Tensor> own = {parameter()};
  std::vector<std::unique_ptr<optim::Optimizer>> all;
  all.push_back(std::make_unique<optim::SGD>(own, optim::SGDOptions(0.5)));
  all.push_back(std::make_unique<optim::Adam>(own, optim::AdamOptions(0.5)));
  all.push_back(std::make_unique<optim::AdamW>(own, optim::AdamWOptions(0.5)));
  all.push_back(std::make_unique<optim::Adagrad>(own, optim::AdagradOptions(0.5)));
  all.push_back(std::make_unique<optim::RMSprop>(own, optim::RMSpropOptions(0.5)));
  all.push_back(std::make_unique<optim::LBFGS>(own, optim::LBFGSOptions(0.5)));
  for (const auto& optimizer : all) {
    Scheduler scheduler(*optimizer, exponential_decay({.factor = 0.5}));
    scheduler.step();
    scheduler.step();
    EXPECT_EQ(optimizer->param_groups()[0].options().get_lr(), 0.125);
  }
}

TEST(Scheduler, MovesMomentumOrTheFirstBeta) {
  const Schedule schedule = one_cycle({.steps = 10, .momentum = MomentumCycle{0.7, 0.9}});
  optim::SGD sgd({parameter()}, optim::SGDOptions(1).momentum(0.5));
  Scheduler of_sgd(sgd, schedule);
  EXPECT_DOUBLE_EQ(static_cast<optim::SGDOptions&>(sgd.param_groups()[0].options()).momentum(), 0.9);
  optim::AdamW adam({parameter()}, optim::AdamWOptions(1).betas({0.5, 0.95}));
  Scheduler of_adam(adam, schedule);
  of_adam.step();
  of_adam.step();
  const auto betas = static_cast<optim::AdamWOptions&>(adam.param_groups()[0].options()).betas();
  EXPECT_DOUBLE_EQ(std::get<0>(betas), 0.7);
  EXPECT_EQ(std::get<1>(betas), 0.95);
  optim::Adagrad adagrad({parameter()}, optim::AdagradOptions(1));
  EXPECT_THROW(Scheduler(adagrad, schedule), std::invalid_argument);
}

TEST(Scheduler, GoesOnFromItsState) {
  const Schedule schedule = warmup_cosine({.warmup = 5, .steps = 40});
  optim::Adam optimizer({parameter()}, optim::AdamOptions(0.3));
  Scheduler straight(optimizer, schedule);
  for (int step = 0; step < 17; ++step) straight.step();
  straight.dampen(0.5);
  const SchedulerState kept = straight.state();

  optim::Adam another({parameter()}, optim::AdamOptions(0.7));
  Scheduler resumed(another, schedule);
  resumed.load(kept);
  EXPECT_EQ(resumed.state(), straight.state());
  for (int step = 0; step < 30; ++step) {
    EXPECT_EQ(resumed.rates(), straight.rates());
    resumed.step();
    straight.step();
  }
}

TEST(Scheduler, DampsThisAndEveryLaterRate) {
  optim::SGD optimizer({parameter()}, optim::SGDOptions(0.8));
  Scheduler scheduler(optimizer, exponential_decay({.factor = 0.5}));
  scheduler.dampen(0.25);
  EXPECT_EQ(scheduler.rates()[0], 0.2);
  scheduler.step();
  EXPECT_EQ(scheduler.rates()[0], 0.1);
}

TEST(Scheduler, RefusesWhatDoesNotBelongToIt) {
  optim::SGD optimizer({parameter()}, optim::SGDOptions(0.8));
  Scheduler scheduler(optimizer, exponential_decay({.factor = 0.5}));
  SchedulerState other = scheduler.state();
  other.schedule = "cosine_decay(steps=10, floor=0)";
  EXPECT_THROW(scheduler.load(other), std::invalid_argument);
  other = scheduler.state();
  other.rates.push_back(1);
  EXPECT_THROW(scheduler.load(other), std::invalid_argument);
  optimizer.add_param_group(optim::OptimizerParamGroup({parameter()}));
  EXPECT_THROW(scheduler.step(), std::invalid_argument);
}

}  // namespace
}  // namespace osler::torch
