// The noise scale where signal and noise are known, and plans for learning rates.
#include "osler/torch/noise_scale.h"

#include <gtest/gtest.h>

#include <cmath>

#include "torch/probes/probe_sample.h"

namespace osler::torch {
namespace {

/// Loss w . x with x of mean m and unit variance in each of n dimensions: the gradient of one sample is x, so the noise
/// scale is n / (n m^2) = 1 / m^2 exactly.
Experiment linear_noise(double mean, std::int64_t batch, int batches = 32) {
  at::manual_seed(5);
  ::torch::nn::Linear line(::torch::nn::LinearOptions(400, 1).bias(false));
  ::torch::optim::SGD optimizer(line->parameters(), ::torch::optim::SGDOptions(0.1));
  const Training training{*line,
                          optimizer,
                          [&](const at::Tensor& x) { return line(x); },
                          [](const at::Tensor& y, const at::Tensor&) { return y.mean(); },
                          [&] {
                            return Batch{at::randn({batch, 400}) + mean, {}};
                          },
                          {},
                          {}};
  NoiseScaleOptions options;
  options.batches = batches;
  return gradient_noise_scale(training, options);
}

TEST(NoiseScale, IsTheRatioOfNoiseToSignal) {
  const Experiment found = linear_noise(0.1, 64);
  const auto& scale = found.values[4];
  ASSERT_EQ(scale.name, "noise-scale");
  EXPECT_NEAR(scale.value, 100, 15);
  EXPECT_LT(*scale.low, 100);
  EXPECT_GT(*scale.high, 100);
  EXPECT_EQ(found.value("suggested-batch-size"), 128);
  EXPECT_EQ(found.outcome, Experiment::Outcome::passed);
}

TEST(NoiseScale, FailsWhereStepsAreMostlyNoise) {
  const Experiment found = linear_noise(0.1, 2, 200);
  EXPECT_EQ(found.outcome, Experiment::Outcome::failed) << found.verdict;
  EXPECT_NE(found.verdict.find("mostly noise"), std::string::npos);
}

TEST(NoiseScale, TakesMoreGradientsForAsLongAsTheyLeaveItOpen) {
  const Experiment found = linear_noise(0.1, 2, 4);
  EXPECT_EQ(found.outcome, Experiment::Outcome::failed) << found.verdict;
  EXPECT_GT(found.value("gradients").value_or(0), 4);
  EXPECT_EQ(linear_noise(0.1, 64, 32).value("gradients"), 32) << "these decide at once";
}

TEST(NoiseScale, IsOpenWithoutSignalOrWithoutNoise) {
  EXPECT_EQ(linear_noise(0, 8).outcome, Experiment::Outcome::undecided);
  SampleTraining sample(2);  // every batch is the whole set
  EXPECT_EQ(gradient_noise_scale(sample.training()).outcome, Experiment::Outcome::undecided);
}

TEST(NoiseScale, ScalesLearningRatesWithTheBatch) {
  EXPECT_DOUBLE_EQ(scaled_learning_rate(0.1, 256, 1024), 0.4);
  EXPECT_DOUBLE_EQ(scaled_learning_rate(0.001, 256, 1024, BatchScaling::square_root), 0.002);
  EXPECT_THROW(static_cast<void>(scaled_learning_rate(0.1, 0, 1024)), std::invalid_argument);
}

TEST(UpdateRatios, PlanTheRateThatGivesTheTarget) {
  SampleTraining sample(2);
  const Training training = sample.training();
  const Experiment first = update_ratios(training, {1e-3, 10, 1});
  ASSERT_EQ(first.checks.size(), 2U);
  EXPECT_EQ(first.checks[0].id, "in.weight");
  // Gradient descent is linear in the rate: with the rate planned for a layer its ratio is the target.
  const double planned = first.column("learning-rate")->values[1];
  sample.optimizer->param_groups()[0].options().set_lr(planned);
  const Experiment second = update_ratios(training, {1e-3, 10, 1});
  EXPECT_NEAR(second.column("update-ratio")->values[1], 1e-3, 1e-5);
}

TEST(UpdateRatios, AreHeldAgainstWhatIsUsualForTheOptimizer) {
  ::torch::manual_seed(2);
  ::torch::nn::Linear model(64, 32);
  ::torch::optim::Adam adam(model->parameters(), ::torch::optim::AdamOptions(1e-3));
  const Training training{*model,
                          adam,
                          [&](const at::Tensor& x) { return model->forward(x); },
                          [](const at::Tensor& out, const at::Tensor& target) { return at::mse_loss(out, target); },
                          [] {
                            return Batch{at::randn({16, 64}), at::randn({16, 32})};
                          },
                          {},
                          {}};
  const Experiment usual = update_ratios(training);
  EXPECT_EQ(usual.outcome, Experiment::Outcome::passed) << usual.verdict;
  adam.param_groups()[0].options().set_lr(1);
  EXPECT_EQ(update_ratios(training).outcome, Experiment::Outcome::failed);
}

TEST(UpdateRatios, FailWhereStepsAreFarTooLong) {
  SampleTraining sample(2);
  sample.optimizer->param_groups()[0].options().set_lr(100);
  EXPECT_EQ(update_ratios(sample.training()).outcome, Experiment::Outcome::failed);
}

}  // namespace
}  // namespace osler::torch
