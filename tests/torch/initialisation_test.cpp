// How models start: the examples are fine, and each planted fault shows at its layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "example_trainings.h"
#include "osler/torch/initialisation.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
using Outcome = Experiment::Outcome;

const Experiment::Check* check_of(const Experiment& experiment, const std::string& id) {
  for (const Experiment::Check& check : experiment.checks) {
    if (check.id == id) return &check;
  }
  return nullptr;
}

class Initialisation : public testing::Test {
 protected:
  Initialisation() {
    at::set_num_threads(1);
    ::torch::manual_seed(2);
  }
};

TEST_F(Initialisation, TheExamplesStartWell) {
  for (const Trainee& trainee : {mlp(sgd(0.1)), cnn(sgd(0.1)), lstm(sgd(0.1)), gpt(sgd(0.1))}) {
    const Experiment start = initialisation_check(*trainee.model);
    EXPECT_EQ(start.outcome, Outcome::passed) << start.verdict;
    EXPECT_EQ(start.checks.size(), trainee.model->parameters().size());
    EXPECT_EQ(start.column("std")->values.size(), start.checks.size());
    const Experiment signal = signal_propagation(trainee.training);
    EXPECT_EQ(signal.outcome, Outcome::passed) << signal.verdict;
    EXPECT_EQ(signal.column("activation-std")->values.size(), signal.checks.size());
    EXPECT_GT(signal.value("backward-factor").value(), 0.01);
  }
}

TEST_F(Initialisation, MeasuresAgainstHeAndXavier) {
  nn::Linear layer(200, 50);
  nn::init::kaiming_normal_(layer->weight, 0, ::torch::kFanIn, ::torch::kReLU);
  const Experiment he = initialisation_check(*layer);
  EXPECT_NEAR(he.column("he-ratio")->values.front(), 1, 0.05);
  nn::init::xavier_normal_(layer->weight);
  EXPECT_NEAR(initialisation_check(*layer).column("xavier-ratio")->values.front(), 1, 0.05);
}

TEST_F(Initialisation, PlantedFaultsShowAtTheirTensor) {
  examples::Mlp model;
  const at::NoGradGuard no_graph;
  model.fc1->weight.mul_(100);
  model.fc2->weight.fill_(0.05);
  model.fc2->bias.fill_(-20);
  model.fc3->weight.zero_();
  const Experiment found = initialisation_check(model);
  EXPECT_EQ(found.outcome, Outcome::failed);
  EXPECT_EQ(check_of(found, "fc1.weight")->outcome, Outcome::failed);
  EXPECT_THAT(check_of(found, "fc2.weight")->text, testing::HasSubstr("start equal"));
  EXPECT_EQ(check_of(found, "fc2.bias")->outcome, Outcome::failed);
  EXPECT_EQ(check_of(found, "fc3.weight")->outcome, Outcome::undecided);
  EXPECT_EQ(check_of(found, "fc1.bias")->outcome, Outcome::passed);
}

TEST_F(Initialisation, AModelWithoutParametersIsWrongUse) {
  nn::ReLU nothing;
  EXPECT_THROW((void)initialisation_check(*nothing), std::invalid_argument);
}

/// A deep chain of layers whose weights have `gain` times the size that keeps a signal.
Trainee chain(double gain, bool tanh) {
  nn::Sequential model;
  constexpr int kDepth = 20;
  for (int i = 0; i < kDepth; ++i) {
    nn::Linear layer(32, 32);
    const at::NoGradGuard no_graph;
    layer->weight.normal_(0, gain / std::sqrt(32.0));
    layer->bias.zero_();
    model->push_back(layer);
    if (tanh) model->push_back(nn::Tanh());
  }
  return trainee(
      model.ptr(), sgd(0.1),
      [] {
        return std::pair(at::randn({64, 32}), at::randn({64, 32}));
      },
      [](const at::Tensor& outputs, const at::Tensor& targets) { return at::mse_loss(outputs, targets); });
}

TEST_F(Initialisation, SignalsThatKeepTheirSizePass) {
  const Experiment found = signal_propagation(chain(1, false).training);
  EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
  EXPECT_NEAR(found.value("forward-factor").value(), 1, 0.15);
  EXPECT_NEAR(found.value("backward-factor").value(), 1, 0.15);
}

TEST_F(Initialisation, SignalsThatFadeOrExplodeAreNoticed) {
  const Experiment fades = signal_propagation(chain(0.5, false).training);
  EXPECT_EQ(fades.outcome, Outcome::failed);
  EXPECT_NEAR(fades.value("forward-factor").value(), 0.5, 0.1);
  EXPECT_THAT(fades.checks.back().text, testing::HasSubstr("shrunk"));
  EXPECT_THAT(fades.checks.front().text, testing::HasSubstr("gradient has shrunk"));
  const Experiment grows = signal_propagation(chain(2, false).training);
  EXPECT_EQ(grows.outcome, Outcome::failed);
  EXPECT_THAT(grows.checks.back().text, testing::HasSubstr("grown"));
}

}  // namespace
}  // namespace osler::torch
