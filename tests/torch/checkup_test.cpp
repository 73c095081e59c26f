// The checkup: all green on a healthy set-up, and every planted fault caught by its point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "example_trainings.h"
#include "osler/torch/checkup.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
using Outcome = Experiment::Outcome;

struct Samples {
  at::Tensor x;
  at::Tensor y;
};

/// A healthy set-up of a small classifier, every part of which a test may spoil.
struct Preparation {
  nn::Sequential model{nn::Linear(6, 32), nn::ReLU(), nn::Linear(32, 32), nn::Tanh(), nn::Linear(32, 3)};
  MakeOptimizer make = adaptive<::torch::optim::Adam>(1e-2);
  Samples train;
  Samples valid;
  std::function<Batch()> next;
  std::function<at::Tensor(const at::Tensor&)> before = [](const at::Tensor& x) { return x; };
  bool load_restores_schedule = true;
  std::function<at::Tensor()> load_validation;
  int log_rate_every = 1;

  Preparation() {
    at::set_num_threads(1);
    ::torch::manual_seed(11);
    const at::Tensor centres = at::randn({3, 6});
    const auto samples = [&](std::int64_t count) {
      const at::Tensor y = at::randint(0, 3, {count}, at::kLong);
      return Samples{centres.index_select(0, y) + 0.3 * at::randn({count, 6}), y};
    };
    train = samples(400);
    valid = samples(200);
  }

  [[nodiscard]] static Batch some(const Samples& samples) {
    const at::Tensor chosen = at::randint(0, samples.x.size(0), {24}, at::kLong);
    return {samples.x.index_select(0, chosen), samples.y.index_select(0, chosen)};
  }

  [[nodiscard]] Experiment checked() {
    const auto optimizer = make(model->parameters());
    const Training training{*model,
                            *optimizer,
                            [this](const at::Tensor& x) { return model->forward(before(x)); },
                            class_loss,
                            next ? next : [this] { return some(train); },
                            [this] { return some(valid); },
                            3};
    osler::Run run;
    const auto loss = run.series("train/loss");
    const auto rate = run.series("train/learning_rate");
    for (int step = 0; step < 100; ++step) {
      run.add({loss, step, static_cast<double>(step), 1.0 / (step + 1)});
      if (step % log_rate_every == 0) run.add({rate, step, static_cast<double>(step), 0.01});
    }
    int now = 0;
    int saved = 0;
    const auto set = [&] {
      for (auto& group : optimizer->param_groups()) group.options().set_lr(0.01 / (1 + now));
    };
    CheckupOptions options;
    options.overfit.steps = 150;
    options.recorded = &run;
    options.load_validation = load_validation ? load_validation : [this] { return valid.x; };
    options.checkpoint.save = [&] { saved = now; };
    options.checkpoint.load = [&] {
      if (load_restores_schedule) now = saved;
      set();
    };
    options.checkpoint.advance_schedule = [&] {
      ++now;
      set();
    };
    return checkup(training, options);
  }

  [[nodiscard]] at::Tensor& weight(std::size_t layer) { return model[layer]->as<nn::Linear>()->weight; }
};

const Experiment::Check& point(const Experiment& experiment, const std::string& id) {
  for (const Experiment::Check& check : experiment.checks) {
    if (check.id == id) return check;
  }
  throw std::out_of_range("no point " + id);
}

TEST(Checkup, IsAllGreenOnAHealthySetup) {
  const Experiment found = Preparation().checked();
  EXPECT_EQ(found.probe, "checkup");
  EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
  for (const Experiment::Check& check : found.checks) {
    EXPECT_EQ(check.outcome, Outcome::passed) << check.id << ": " << check.text;
  }
  EXPECT_EQ(found.checks.size(), 19U);
  EXPECT_EQ(exit_status(found), 0);
  EXPECT_EQ(experiment_from_json(to_json(found)).value(), found);
}

struct Fault {
  std::string point;
  std::function<void(Preparation&)> plant;
};

class CheckupFault : public testing::TestWithParam<Fault> {};

TEST_P(CheckupFault, IsCaught) {
  Preparation setup;
  {
    const at::NoGradGuard no_graph;
    GetParam().plant(setup);
  }
  const Experiment found = setup.checked();
  const Experiment::Check& check = point(found, GetParam().point);
  EXPECT_EQ(check.outcome, Outcome::failed) << check.text;
  EXPECT_FALSE(check.text.empty());
  EXPECT_EQ(found.outcome, Outcome::failed);
  EXPECT_EQ(exit_status(found), 1);
}

/// Batches of the training set in the order of its labels.
void sort_by_class(Preparation& setup) {
  const at::Tensor order = setup.train.y.argsort();
  const auto at = std::make_shared<std::int64_t>(0);
  setup.next = [&setup, order, at] {
    *at = (*at + 24) % 360;
    const at::Tensor chosen = order.slice(0, *at, *at + 24);
    return Batch{setup.train.x.index_select(0, chosen), setup.train.y.index_select(0, chosen)};
  };
}

INSTANTIATE_TEST_SUITE_P(
    Planted, CheckupFault,
    testing::Values(
        Fault{"output-shape",
              [](Preparation& s) { s.model = nn::Sequential(nn::Linear(6, 32), nn::ReLU(), nn::Linear(32, 4)); }},
        Fault{"first-loss", [](Preparation& s) { s.weight(4).mul_(400); }},
        Fault{"loss-falls", [](Preparation& s) { s.make = adaptive<::torch::optim::Adam>(10); }},
        Fault{"overfit-one-batch", [](Preparation& s) { s.make = adaptive<::torch::optim::Adam>(1e-6); }},
        Fault{"inputs-finite",
              [](Preparation& s) { s.train.x.select(1, 2).fill_(std::numeric_limits<double>::infinity()); }},
        Fault{"normalisation",
              [](Preparation& s) {
                s.train.x.mul_(60).add_(120);
                s.valid.x.mul_(60).add_(120);
              }},
        Fault{"labels", [](Preparation& s) { s.train.y.add_(1); }}, Fault{"batches-shuffled", sort_by_class},
        Fault{"disjoint-splits", [](Preparation& s) { s.valid.x.slice(0, 0, 100).copy_(s.train.x.slice(0, 0, 100)); }},
        Fault{"validation-not-augmented",
              [](Preparation& s) { s.load_validation = [&s] { return s.valid.x + 0.1 * at::randn_like(s.valid.x); }; }},
        Fault{"train-mode", [](Preparation& s) { s.model->eval(); }},
        Fault{"scheduler-in-checkpoint", [](Preparation& s) { s.load_restores_schedule = false; }},
        Fault{"learning-rate-logged", [](Preparation& s) { s.log_rate_every = 10; }},
        Fault{"zero-input", [](Preparation& s) { s.before = [](const at::Tensor& x) { return 0 * x; }; }},
        Fault{"every-parameter-learns",
              [](Preparation& s) {
                s.make = [](std::vector<at::Tensor> parameters) {
                  parameters.erase(parameters.begin());
                  return std::make_unique<::torch::optim::Adam>(parameters, 1e-2);
                };
              }},
        Fault{"samples-independent",
              [](Preparation& s) { s.before = [](const at::Tensor& x) {
                                     return x.t().reshape({-1, 6});
                                   }; }},
        Fault{"units-alive", [](Preparation& s) { s.model[0]->as<nn::Linear>()->bias.fill_(-30); }},
        Fault{"initialisation", [](Preparation& s) { s.weight(2).fill_(0.1); }},
        Fault{"signal-propagation",
              [](Preparation& s) {
                s.weight(2).mul_(1e-5);
                s.model[2]->as<nn::Linear>()->bias.zero_();
              }}),
    [](const testing::TestParamInfo<Fault>& info) {
      std::string name = info.param.point;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(Checkup, SaysWhatItCouldNotCheck) {
  at::set_num_threads(1);
  ::torch::manual_seed(1);
  Trainee trainee = lstm(adaptive<::torch::optim::Adam>(5e-3), 16, 8);
  trainee.training.next_validation_batch = nullptr;
  const Experiment found = checkup(trainee.training);
  EXPECT_EQ(point(found, "first-loss").outcome, Outcome::undecided);
  EXPECT_EQ(point(found, "disjoint-splits").outcome, Outcome::undecided);
  EXPECT_EQ(point(found, "scheduler-in-checkpoint").outcome, Outcome::undecided);
  EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
}

TEST(Checkup, AnExceptionOfTheModelFailsThePointsThatNeedIt) {
  Preparation setup;
  setup.before = [](const at::Tensor&) -> at::Tensor { throw std::runtime_error("no such layer"); };
  const Experiment found = setup.checked();
  EXPECT_EQ(found.outcome, Outcome::failed);
  EXPECT_THAT(point(found, "output-shape").text, testing::HasSubstr("no such layer"));
  EXPECT_EQ(point(found, "inputs-finite").outcome, Outcome::passed);
}

TEST(Checkup, TransformersPassToo) {
  at::set_num_threads(1);
  ::torch::manual_seed(1);
  Trainee trainee = gpt(adaptive<::torch::optim::AdamW>(2e-3), 2);
  trainee.training.next_validation_batch = nullptr;  // its pieces are all of one text
  const Experiment found = checkup(trainee.training);
  EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
}

}  // namespace
}  // namespace osler::torch
