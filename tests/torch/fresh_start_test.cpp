// fresh_start(): what the beginning of a training says of its learning rate and its regularisation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "example_trainings.h"
#include "osler/torch/fresh_start.h"
#include "torch/probes/redraw.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
namespace optim = ::torch::optim;
using Outcome = Experiment::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;

class FreshStart : public testing::Test {
 protected:
  FreshStart() {
    at::set_num_threads(1);
    ::torch::manual_seed(3);
  }
  static void train(const Training& training, int steps) {
    for (int step = 0; step < steps; ++step) {
      training.optimizer.zero_grad();
      training.loss_of(training.next_batch()).backward();
      training.optimizer.step();
    }
  }
};

TEST_F(FreshStart, APlausibleRatePasses) {
  const Trainee trainee = mlp(sgd(0.2));
  train(trainee.training, 300);
  const Experiment found = fresh_start(trainee.training);
  EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
  EXPECT_EQ(found.value("best-factor"), 1);
  EXPECT_EQ(found.value("overtakes"), 0) << found.verdict;
  EXPECT_EQ(found.value("regularisation-hinders"), std::nullopt);
  EXPECT_EQ(found.column("loss-present")->values.size(), 150U);
}

TEST_F(FreshStart, ARateThatHasWreckedTheWeightsIsFound) {
  const Trainee trainee = mlp(sgd(3));
  train(trainee.training, 300);
  const Experiment found = fresh_start(trainee.training);
  EXPECT_EQ(found.outcome, Outcome::failed) << found.verdict;
  EXPECT_EQ(found.value("best-factor"), 0.1) << found.verdict;
  EXPECT_EQ(found.value("overtakes"), 1) << found.verdict;
}

TEST_F(FreshStart, GoesUpUntilARateLearns) {
  const Trainee trainee = mlp(sgd(1e-4));
  const Experiment found = fresh_start(trainee.training);
  EXPECT_EQ(found.outcome, Outcome::failed) << found.verdict;
  EXPECT_EQ(found.value("best-factor"), 1000) << found.verdict;
}

TEST_F(FreshStart, TooMuchWeightDecayIsFound) {
  const Trainee trainee = mlp([](std::vector<at::Tensor> parameters) {
    return std::make_unique<optim::SGD>(std::move(parameters), optim::SGDOptions(0.2).weight_decay(0.3));
  });
  train(trainee.training, 300);
  const Experiment found = fresh_start(trainee.training);
  EXPECT_EQ(found.outcome, Outcome::failed) << found.verdict;
  EXPECT_EQ(found.value("regularisation-hinders"), 1) << found.verdict;
}

TEST_F(FreshStart, LeavesOpenWhatNoRateLearns) {
  Trainee trainee = mlp(sgd(0.1));
  trainee.training.next_batch = [healthy = trainee.training.next_batch] {
    Batch batch = healthy();
    batch.targets = at::randint(0, 10, batch.targets.sizes(), at::kLong);
    return batch;
  };
  const Experiment found = fresh_start(trainee.training);
  EXPECT_EQ(found.outcome, Outcome::undecided) << found.verdict;
  EXPECT_THAT(found.verdict, HasSubstr("none of these rates learns anything"));
}

struct WithTable : nn::Module {
  nn::Linear out{register_module("out", nn::Linear(32, 10))};
  at::Tensor table = register_parameter("table", at::ones({32}));
  at::Tensor forward(const at::Tensor& x) { return out(x * table); }
};

TEST_F(FreshStart, ParametersOfTheModelsOwnNeedItsHelp) {
  const auto model = std::make_shared<WithTable>();
  Trainee trainee = osler::torch::trainee(
      model, sgd(0.2), [] { return examples::clouds(32); },
      [](const at::Tensor& outputs, const at::Tensor& targets) { return at::cross_entropy_loss(outputs, targets); },
      10);
  const Experiment asked = fresh_start(trainee.training);
  EXPECT_EQ(asked.outcome, Outcome::undecided);
  EXPECT_THAT(asked.verdict, HasSubstr("How table began is not known: set Training::restart"));
  trainee.training.restart = [&] {
    const at::NoGradGuard no_graph;
    model->out->reset_parameters();
    model->table.fill_(1);
    trainee.optimizer->param_groups()[0].options().set_lr(0.1);
  };
  const Experiment found = fresh_start(trainee.training);
  EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
  EXPECT_EQ(found.value("rate"), 0.1);
  EXPECT_EQ(trainee.optimizer->param_groups()[0].options().get_lr(), 0.2);
}

TEST_F(FreshStart, RefusesTooFewSteps) {
  const Trainee trainee = mlp(sgd(0.2));
  EXPECT_THROW(static_cast<void>(fresh_start(trainee.training, {.steps = 3})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(fresh_start(trainee.training, {.largest = 1})), std::invalid_argument);
}

TEST(Redraw, DrawsAllLayersOfTheExamplesAndLeavesFrozenWeights) {
  for (const Trainee& trainee : {mlp(sgd(0.1)), cnn(sgd(0.1)), lstm(sgd(0.1))}) {
    std::vector<at::Tensor> before;
    trainee.model->parameters().front().requires_grad_(false);
    for (const at::Tensor& parameter : trainee.model->parameters()) before.push_back(parameter.detach().clone());
    EXPECT_THAT(redraw(*trainee.model), ElementsAre());
    EXPECT_TRUE(trainee.model->parameters().front().equal(before.front()));
    EXPECT_FALSE(trainee.model->parameters().back().equal(before.back()));
  }
}

}  // namespace
}  // namespace osler::torch
