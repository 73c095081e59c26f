// Sharpness and surfaces of losses whose shape is known.
#include "osler/torch/sharpness.h"

#include <gtest/gtest.h>

#include <cmath>

#include "torch/probes/probe_sample.h"

namespace osler::torch {
namespace {

/// 1 + steepness * |w - w0|^2 / |w0|^2: a step of a share r of the weights' size raises it by steepness * r^2.
struct Bowl : ::torch::nn::Module {
  explicit Bowl(double steepness) : steepness(steepness) {
    at::manual_seed(3);
    weights = register_parameter("weights", at::randn({20, 30}));
    centre = weights.detach().clone();
  }
  at::Tensor height() const { return 1 + steepness * (weights - centre).square().sum() / centre.square().sum(); }
  double steepness;
  at::Tensor weights;
  at::Tensor centre;
};

Training training_of(Bowl& bowl, ::torch::optim::Optimizer& optimizer) {
  return {bowl,
          optimizer,
          [&bowl](const at::Tensor&) { return bowl.height(); },
          [](const at::Tensor& y, const at::Tensor&) { return y; },
          [] {
            return Batch{at::zeros({1}), {}};
          },
          {},
          {}};
}

Experiment sharpness_of(double steepness) {
  Bowl bowl(steepness);
  ::torch::optim::SGD optimizer(bowl.parameters(), ::torch::optim::SGDOptions(0.1));
  return sharpness(training_of(bowl, optimizer));
}

TEST(Sharpness, IsTheRelativeRiseUnderAShareOfTheWeights) {
  const Experiment sharp = sharpness_of(100);
  EXPECT_EQ(sharp.outcome, Experiment::Outcome::failed);
  EXPECT_NEAR(*sharp.value("ratio"), 100 * 0.05 * 0.05, 1e-4);
  EXPECT_NEAR(*sharp.value("filter-ratio"), 100 * 0.05 * 0.05, 1e-4);
  EXPECT_NEAR(*sharp.value("worst-ratio"), 100 * 0.05 * 0.05, 1e-4);
  EXPECT_EQ(sharp.column("ratio")->values.size(), 20U);
  const Experiment flat = sharpness_of(10);
  EXPECT_EQ(flat.outcome, Experiment::Outcome::passed);
  EXPECT_NEAR(*flat.value("ratio"), 0.025, 1e-4);
}

TEST(Sharpness, TheWorstDirectionIsWorseThanARandomOne) {
  SampleTraining sample(3);
  sample.train(500);
  const Experiment found = sharpness(sample.training());
  EXPECT_GT(*found.value("worst-ratio"), 2 * std::abs(*found.value("ratio")));
  EXPECT_GT(*found.value("ratio-spread"), 0);
}

TEST(Sharpness, LeavesItOpenWhereRepeatsDisagree) {
  SampleTraining sample(3);
  sample.train(500);
  SharpnessOptions options;
  const double ratio = *sharpness(sample.training(), options).value("ratio");
  options.threshold = ratio;
  EXPECT_EQ(sharpness(sample.training(), options).outcome, Experiment::Outcome::undecided);
}

TEST(Sharpness, EndsWhenAskedTo) {
  SampleTraining sample(3);
  std::stop_source stop;
  Training training = sample.training();
  int calls = 0;
  training.forward = [&](const at::Tensor& x) {
    if (++calls == 20) stop.request_stop();
    return sample.net->forward(x);
  };
  Limits limits;
  limits.stop = stop.get_token();
  EXPECT_EQ(sharpness(training, {}, limits).outcome, Experiment::Outcome::stopped);
  EXPECT_LT(calls, 30);
}

TEST(LossSurface, MeasuresALineAndAPlane) {
  Bowl bowl(8);
  ::torch::optim::SGD optimizer(bowl.parameters(), ::torch::optim::SGDOptions(0.1));
  const Training training = training_of(bowl, optimizer);
  SurfaceOptions options;
  options.dimensions = 1;
  options.points = 5;
  const Experiment line = loss_surface(training, options);
  EXPECT_EQ(line.outcome, Experiment::Outcome::passed);
  ASSERT_EQ(line.column("a")->values, (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  const std::vector<double> heights = {9, 3, 1, 3, 9};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(line.column("loss")->values[i], heights[i], 1e-4);
  options.dimensions = 2;
  const Experiment plane = loss_surface(training, options);
  ASSERT_EQ(plane.column("loss")->values.size(), 25U);
  EXPECT_EQ(plane.column("b")->values[7], -0.5);
  EXPECT_EQ(plane.value("lowest-a"), 0);
  options.points = 4;
  EXPECT_THROW(static_cast<void>(loss_surface(training, options)), std::invalid_argument);
}

TEST(LossSurface, SaysWhenTheWeightsAreNotAtTheBottom) {
  SampleTraining sample(4);  // not trained
  SurfaceOptions options;
  options.points = 11;
  options.span = 2;
  const Experiment found = loss_surface(sample.training(), options);
  EXPECT_LT(*found.value("lowest"), *found.value("loss"));
  EXPECT_EQ(found.outcome, Experiment::Outcome::undecided) << found.verdict;
}

}  // namespace
}  // namespace osler::torch
