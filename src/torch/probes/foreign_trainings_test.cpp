// Probes on trainings that are wrong in ways which their first authors did not think of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "osler/torch/checkup.h"
#include "osler/torch/fresh_start.h"
#include "osler/torch/lr_range.h"
#include "osler/torch/overfit.h"
#include "probes/range_curve.h"
#include "torch/probes/probe_sample.h"

namespace osler::torch {
namespace {

using Outcome = Experiment::Outcome;
using testing::HasSubstr;

TEST(ForeignTrainings, MemorisedMeansFarBelowChanceHoweverHighTheFirstLossWas) {
  SampleTraining sample;
  {
    const at::NoGradGuard no_graph;
    sample.net->out->weight.mul_(1000);
  }
  OverfitOptions options;
  options.steps = 3;
  options.patience = 1;
  const Experiment found = overfit_one_batch(sample.training(), options);
  ASSERT_GT(found.value("first-loss").value(), 20);
  EXPECT_LT(found.value("target").value(), 0.1 * std::log(3.0));
}

TEST(ForeignTrainings, ASoftmaxInsideALossThatHasOneIsNoSoundLoss) {
  SampleTraining sample;
  Training training = sample.training();
  training.loss = [](const at::Tensor& out, const at::Tensor& labels) {
    return at::cross_entropy_loss(at::softmax(out, 1), labels);
  };
  OverfitOptions options;
  options.steps = 300;
  const Experiment found = overfit_one_batch(training, options);
  EXPECT_EQ(found.outcome, Outcome::failed) << found.verdict;
  EXPECT_EQ(overfit_failure(found), "loss") << found.verdict;
  EXPECT_THAT(found.verdict, HasSubstr("applied twice"));
}

TEST(ForeignTrainings, ARateFarBelowAllUsualOnesIsBlamedAndNotTheOptimizer) {
  SampleTraining sample(1, 16, 16);
  ::torch::optim::Adam slow(sample.net->parameters(), ::torch::optim::AdamOptions(1e-8));
  const Training whole = sample.training();
  const Training training{whole.model, slow, whole.forward, whole.loss, whole.next_batch, {}, 3};
  OverfitOptions options;
  options.steps = 400;
  EXPECT_EQ(overfit_failure(overfit_one_batch(training, options)), "learning-rate-too-low");
}

TEST(ForeignTrainings, LogarithmsOfProbabilitiesAreOutputsLikeOthers) {
  SampleTraining sample(1, 16, 16);
  Training training = sample.training();
  training.forward = [&](const at::Tensor& x) { return at::log_softmax(sample.net->forward(x), 1); };
  training.loss = [](const at::Tensor& out, const at::Tensor& labels) { return at::nll_loss(out, labels); };
  OverfitOptions options;
  options.steps = 2000;
  const Experiment found = overfit_one_batch(training, options);
  EXPECT_EQ(found.outcome, Outcome::passed) << found.verdict;
}

TEST(ForeignTrainings, BatchesWithoutNumbersAreNotTakenForDivergence) {
  SampleTraining sample;
  Training training = sample.training();
  training.next_batch = [&] {
    Batch batch = sample.next();
    batch.inputs = batch.inputs.clone();
    batch.inputs[0][0] = std::numeric_limits<float>::quiet_NaN();
    return batch;
  };
  EXPECT_THAT(lr_range_test(training).verdict, HasSubstr("input values of a batch are NaN or infinite"));
  training.next_batch = [&] {
    const Batch batch = sample.next();
    return Batch{batch.inputs.slice(0, 0, 0), batch.targets.slice(0, 0, 0)};
  };
  EXPECT_THAT(lr_range_test(training).verdict, HasSubstr("a batch is empty"));
}

TEST(ForeignTrainings, OneReadingFarFromTheOthersDoesNotOutvoteThem) {
  const probes::RangeReadings readings{1e-7, 1e-3, 2e-3, 3e-3};
  EXPECT_NEAR(readings.spread(), std::log10(3.0), 1e-9);
  EXPECT_GT(readings.middle(), 9e-4);
  const probes::RangeReadings torn{1e-7, 1e-5, 1e-3, 1e-1};
  EXPECT_GT(torn.spread(), probes::RangeCurveOptions{}.widest);
}

TEST(ForeignTrainings, ScoresForEveryPositionOfASequenceAreTheRightShape) {
  SampleTraining sample;
  Training training = sample.training();
  training.classes.reset();
  training.next_batch = [] { return Batch{at::randn({8, 5, 4}), at::randint(0, 3, {8, 5}, at::kLong)}; };
  training.loss = [](const at::Tensor& out, const at::Tensor& labels) {
    return at::cross_entropy_loss(out.flatten(0, 1), labels.flatten());
  };
  CheckupOptions options;
  options.overfit.steps = 10;
  const auto shape_of = [&] {
    const Experiment found = checkup(training, options);
    for (const Experiment::Check& check : found.checks) {
      if (check.id == "output-shape") return check;
    }
    return Experiment::Check{};
  };
  EXPECT_EQ(shape_of().outcome, Outcome::passed) << shape_of().text;
  // A column held against a row is spread over all pairs.
  training.next_batch = [] { return Batch{at::randn({8, 4}), at::randn({8, 1})}; };
  training.forward = [&](const at::Tensor& x) { return sample.net->forward(x).select(1, 0); };
  training.loss = [](const at::Tensor& out, const at::Tensor& target) { return at::mse_loss(out, target); };
  EXPECT_EQ(shape_of().outcome, Outcome::failed) << shape_of().text;
}

TEST(ForeignTrainings, ANegatedLossIsNotRecommendedAHigherRate) {
  SampleTraining sample;
  Training training = sample.training();
  training.loss = [](const at::Tensor& out, const at::Tensor& labels) { return -at::cross_entropy_loss(out, labels); };
  FreshStartOptions options;
  options.steps = 40;
  const Experiment found = fresh_start(training, options);
  EXPECT_THAT(found.verdict, HasSubstr("sign is wrong"));
  EXPECT_EQ(found.value("best-factor"), std::nullopt);
}

}  // namespace
}  // namespace osler::torch
