// Overfitting one batch: healthy models do, broken ones do not, and the reason is the right one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "example_trainings.h"
#include "osler/torch/overfit.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
using Outcome = Experiment::Outcome;

class HealthyExamples : public testing::Test {
 protected:
  HealthyExamples() {
    at::set_num_threads(1);
    ::torch::manual_seed(1);
  }
  static void expect_memorised(const Trainee& trainee) {
    const Experiment found = overfit_one_batch(trainee.training);
    EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
    EXPECT_EQ(overfit_failure(found), std::nullopt);
    EXPECT_LE(found.value("last-loss").value(), found.value("target").value());
    EXPECT_EQ(found.checks.front().outcome, Outcome::passed) << found.checks.front().text;
    EXPECT_EQ(static_cast<double>(found.column("loss")->values.size()), found.value("steps"));
  }
};

TEST_F(HealthyExamples, Mlp) {
  expect_memorised(mlp(adaptive<::torch::optim::Adam>(1e-3)));
}
TEST_F(HealthyExamples, Cnn) {
  expect_memorised(cnn(sgd(0.05, 0.9)));
}
TEST_F(HealthyExamples, Lstm) {
  expect_memorised(lstm(adaptive<::torch::optim::Adam>(5e-3)));
}
TEST_F(HealthyExamples, Gpt) {
  expect_memorised(gpt(adaptive<::torch::optim::AdamW>(2e-3), 2));
}

/// A small classifier of random points with random labels, and the places where a test may break it.
struct Broken {
  nn::Sequential model{nullptr};
  MakeOptimizer optimizer = adaptive<::torch::optim::Adam>(1e-2);
  at::Tensor x;
  at::Tensor y;
  std::function<at::Tensor(const at::Tensor&, const at::Tensor&)> loss = class_loss;
  std::function<at::Tensor(const at::Tensor&)> after = [](const at::Tensor& outputs) { return outputs; };

  Broken() {
    at::set_num_threads(1);
    ::torch::manual_seed(5);
    model = nn::Sequential(nn::Linear(8, 48), nn::ReLU(), nn::Linear(48, 3));
    x = at::randn({16, 8});
    y = at::randint(0, 3, {16}, at::kLong);
  }
  Broken& with(nn::Sequential other) {
    model = std::move(other);
    return *this;
  }
  [[nodiscard]] Experiment tested() const {
    Trainee trainee = osler::torch::trainee(
        model.ptr(), optimizer, [this] { return std::pair(x, y); }, loss, 3);
    const auto forward = trainee.training.forward;
    trainee.training.forward = [&](const at::Tensor& inputs) { return after(forward(inputs)); };
    OverfitOptions options;
    options.steps = 200;
    return overfit_one_batch(trainee.training, options);
  }
  void expect_reason(const std::string& reason) const {
    const Experiment found = tested();
    EXPECT_EQ(found.outcome, Outcome::failed) << found.verdict;
    EXPECT_EQ(overfit_failure(found), reason) << found.verdict;
  }
};

TEST(OverfitOneBatch, TheSameClassifierUnbrokenPasses) {
  const Experiment found = Broken().tested();
  EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
}

TEST(OverfitOneBatch, NanInputs) {
  Broken broken;
  broken.x[3][2] = std::numeric_limits<double>::quiet_NaN();
  broken.expect_reason("inputs");
}

TEST(OverfitOneBatch, LabelsBeyondTheClasses) {
  Broken broken;
  broken.y[0] = 3;
  broken.expect_reason("labels");
}

TEST(OverfitOneBatch, OneLabelForAll) {
  Broken broken;
  broken.y.zero_();
  broken.expect_reason("labels");
}

TEST(OverfitOneBatch, EqualInputsWithDifferentLabels) {
  Broken broken;
  broken.x = broken.x.slice(0, 0, 4).repeat({4, 1});
  broken.expect_reason("labels");
}

TEST(OverfitOneBatch, LossWithoutGradient) {
  Broken broken;
  broken.loss = [](const at::Tensor& outputs, const at::Tensor& targets) {
    return outputs.argmax(1).ne(targets).to(at::kFloat).mean();
  };
  broken.expect_reason("loss");
}

TEST(OverfitOneBatch, SoftmaxTwice) {
  Broken broken;
  broken.after = [](const at::Tensor& outputs) { return at::softmax(outputs, 1); };
  broken.expect_reason("loss");
}

TEST(OverfitOneBatch, LossWithTheWrongSign) {
  Broken broken;
  broken.loss = [](const at::Tensor& outputs, const at::Tensor& targets) { return -class_loss(outputs, targets); };
  broken.expect_reason("loss");
}

TEST(OverfitOneBatch, DeadUnits) {
  Broken broken;
  const at::NoGradGuard no_graph;
  broken.model[0]->as<nn::Linear>()->bias.fill_(-100);
  broken.expect_reason("dead-units");
}

TEST(OverfitOneBatch, RateTooLow) {
  Broken broken;
  broken.optimizer = adaptive<::torch::optim::Adam>(1e-5);
  broken.expect_reason("learning-rate-too-low");
}

TEST(OverfitOneBatch, ARateThatIsMerelySlowIsNoFailure) {
  Broken broken;
  broken.optimizer = adaptive<::torch::optim::Adam>(2e-3);
  const Experiment found = broken.tested();
  EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
  EXPECT_GT(found.value("steps"), 200) << found.verdict;  // more than one attempt's share
}

TEST(OverfitOneBatch, RateTooHigh) {
  Broken broken;
  broken.optimizer = sgd(100);
  broken.expect_reason("learning-rate-too-high");
}

TEST(OverfitOneBatch, EverythingFrozen) {
  Broken broken;
  for (at::Tensor& parameter : broken.model->parameters()) parameter.requires_grad_(false);
  broken.expect_reason("frozen");
}

TEST(OverfitOneBatch, OnlyTheLastBiasInTheOptimizer) {
  Broken broken;
  broken.optimizer = [&](const std::vector<at::Tensor>& parameters) {
    return std::make_unique<::torch::optim::Adam>(std::vector<at::Tensor>{parameters.back()}, 1e-2);
  };
  broken.expect_reason("frozen");
}

TEST(OverfitOneBatch, OutputsCutOff) {
  Broken broken;
  broken.after = [](const at::Tensor& outputs) { return outputs.detach() + at::zeros({1}).requires_grad_(false); };
  broken.expect_reason("gradient");
}

/// Only a scale and a shift after a cut are reached by the gradient.
struct Cut : nn::Module {
  nn::Linear body{register_module("body", nn::Linear(8, 3))};
  nn::Linear end{register_module("end", nn::Linear(3, 3))};
  at::Tensor forward(const at::Tensor& x) { return end(body(x).detach()); }
};

TEST(OverfitOneBatch, AGradientThatReachesOnlyTheEnd) {
  at::set_num_threads(1);
  ::torch::manual_seed(5);
  const at::Tensor x = at::randn({48, 8});
  const at::Tensor y = at::randint(0, 3, {48}, at::kLong);
  const Trainee trainee = osler::torch::trainee(
      std::make_shared<Cut>(), adaptive<::torch::optim::Adam>(1e-2), [=] { return std::pair(x, y); }, class_loss, 3);
  OverfitOptions options;
  options.steps = 120;
  const Experiment found = overfit_one_batch(trainee.training, options);
  EXPECT_EQ(overfit_failure(found), "gradient") << found.verdict;
  EXPECT_THAT(found.verdict, testing::HasSubstr("body.weight"));
}

TEST(OverfitOneBatch, DropoutTooStrong) {
  Broken broken;
  broken.with(nn::Sequential(nn::Linear(8, 48), nn::ReLU(), nn::Dropout(0.95), nn::Linear(48, 3)));
  broken.expect_reason("dropout");
}

TEST(OverfitOneBatch, NormalisationLeftInEvaluationMode) {
  Broken broken;
  nn::Sequential model(nn::Linear(8, 48), nn::BatchNorm1d(48), nn::ReLU(), nn::Linear(48, 3));
  const at::NoGradGuard no_graph;
  model[1]->as<nn::BatchNorm1d>()->running_mean.fill_(1e4);
  model[1]->eval();
  const at::AutoGradMode with_graph(true);
  broken.with(std::move(model));
  const std::optional<std::string> reason = overfit_failure(broken.tested());
  // Seen from the units behind it, a normalisation with the wrong mean leaves them dead.
  EXPECT_THAT(reason.value_or("passed"), testing::AnyOf("mode", "dead-units"));
}

TEST(OverfitOneBatch, AModelTooSmall) {
  Broken broken;
  broken.x = at::randn({48, 8});
  broken.y = at::randint(0, 3, {48}, at::kLong);
  broken.with(nn::Sequential(nn::Linear(8, 1), nn::Tanh(), nn::Linear(1, 3)));
  broken.expect_reason("capacity");
}

TEST(OverfitOneBatch, ALossWithAFloorOfItsOwnIsNoFailure) {
  Broken broken;
  // Label smoothing cannot come near zero.
  broken.loss = [](const at::Tensor& outputs, const at::Tensor& targets) {
    return at::cross_entropy_loss(outputs, targets, {}, 1, -100, 0.2);
  };
  const Experiment found = broken.tested();
  EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
  EXPECT_GT(found.value("floor").value(), 0.3);
}

TEST(OverfitOneBatch, SaysWhatIsWrongWithOptions) {
  const Trainee trainee = mlp(sgd(0.1));
  EXPECT_THROW((void)overfit_one_batch(trainee.training, {0, {}}), std::invalid_argument);
}

}  // namespace
}  // namespace osler::torch
