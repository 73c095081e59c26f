// Clipping: what is left of the gradients, what is told of them before, and that ranks agree.
#include "osler/torch/clip.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace osler::torch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor with_gradient(const at::Tensor& value, const at::Tensor& gradient) {
  at::Tensor parameter = value.clone().requires_grad_();
  parameter.mutable_grad() = gradient.clone();
  return parameter;
}

std::vector<at::Tensor> some() {
  return {with_gradient(at::ones({2}), at::tensor({3.0F, 0.0F})), at::ones({5}).requires_grad_(),
          with_gradient(at::ones({1, 2}), at::tensor({0.0F, -4.0F}).view({1, 2}))};
}

TEST(Clip, ByNormKeepsTheDirection) {
  const std::vector<at::Tensor> parameters = some();
  EXPECT_DOUBLE_EQ(clip_norm(parameters, 1), 5);
  EXPECT_NEAR(gradient_norm(parameters), 1, 1e-6);
  EXPECT_NEAR(parameters[0].grad()[0].item<double>(), 0.6, 1e-6);
  EXPECT_NEAR(parameters[2].grad()[0][1].item<double>(), -0.8, 1e-6);
  EXPECT_FALSE(parameters[1].grad().defined());
}

TEST(Clip, ByNormDoesWhatLibTorchDoes) {
  ::torch::manual_seed(1);
  const at::Tensor gradient = at::randn({40, 30});
  const std::vector<at::Tensor> ours = {with_gradient(at::ones({40, 30}), gradient)};
  const std::vector<at::Tensor> theirs = {with_gradient(at::ones({40, 30}), gradient)};
  const double norm = clip_norm(ours, 0.5);
  EXPECT_NEAR(norm, ::torch::nn::utils::clip_grad_norm_(theirs, 0.5), 1e-4 * norm);
  EXPECT_TRUE(at::allclose(ours[0].grad(), theirs[0].grad(), 1e-5));
}

TEST(Clip, LeavesSmallGradientsAlone) {
  const std::vector<at::Tensor> parameters = some();
  EXPECT_DOUBLE_EQ(clip_norm(parameters, 6), 5);
  EXPECT_DOUBLE_EQ(clip_value(parameters, 10), 5);
  EXPECT_EQ(parameters[0].grad()[0].item<double>(), 3);
  EXPECT_EQ(parameters[2].grad()[0][1].item<double>(), -4);
}

TEST(Clip, ByValueCutsEachElement) {
  const std::vector<at::Tensor> parameters = some();
  EXPECT_DOUBLE_EQ(clip_value(parameters, 3.5), 5);
  EXPECT_EQ(parameters[0].grad()[0].item<double>(), 3);
  EXPECT_EQ(parameters[2].grad()[0][1].item<double>(), -3.5);
}

TEST(Clip, AdaptivelyShrinksOnlyTheUnitsThatMoveTooMuch) {
  // Two units with weights of norm 2 and 10; gradients of norm 1 each; a tenth of the weights is allowed.
  const at::Tensor weights = at::tensor({2.0, 0.0, 6.0, 8.0}).view({2, 2});
  const at::Tensor gradient = at::tensor({0.6, 0.8, 0.6, 0.8}).view({2, 2});
  const std::vector<at::Tensor> parameters = {with_gradient(weights, gradient)};
  EXPECT_NEAR(clip_adaptive(parameters, {.ratio = 0.1}), std::sqrt(2.0), 1e-12);
  EXPECT_TRUE(at::allclose(parameters[0].grad(), at::tensor({0.12, 0.16, 0.6, 0.8}).view({2, 2})));
}

TEST(Clip, AdaptivelyTakesFiltersAsUnitsAndLetsFreshZerosGrow) {
  ::torch::manual_seed(2);
  const at::Tensor weights = at::zeros({3, 2, 4, 4});
  const std::vector<at::Tensor> parameters = {with_gradient(weights, at::randn({3, 2, 4, 4})),
                                              with_gradient(at::zeros({3}), at::ones({3}))};
  clip_adaptive(parameters, {.ratio = 0.5, .least_norm = 0.01});
  const at::Tensor norms = parameters[0].grad().flatten(1).norm(2, 1);
  EXPECT_TRUE(at::allclose(norms, at::full({3}, 0.005), 1e-5));
  EXPECT_NEAR(parameters[1].grad().norm().item<double>(), 0.005, 1e-8);
}

TEST(Clip, TellsOfGradientsThatAreNotFiniteAndLeavesThem) {
  for (const double bad : {kInfinity, std::nan("")}) {
    const std::vector<at::Tensor> parameters = {with_gradient(at::ones({2}), at::tensor({bad, 100.0}))};
    EXPECT_FALSE(std::isfinite(clip_norm(parameters, 1)));
    EXPECT_FALSE(std::isfinite(clip_value(parameters, 1)));
    EXPECT_FALSE(std::isfinite(clip_adaptive(parameters)));
    EXPECT_EQ(parameters[0].grad()[1].item<double>(), 100);
  }
}

TEST(Clip, MeasuresNormsBeyondTheGradientsOwnPrecision) {
  const std::vector<at::Tensor> half = {with_gradient(at::ones({4}).to(at::kHalf), at::full({4}, 3e4).to(at::kHalf))};
  EXPECT_NEAR(gradient_norm(half), 6e4, 10);  // the squares alone are beyond half precision
  const std::vector<at::Tensor> single = {with_gradient(at::ones({4}), at::full({4}, 1e30F))};
  EXPECT_NEAR(gradient_norm(single), 2e30, 1e24);
}

TEST(Clip, RefusesALimitThatIsNotPositive) {
  EXPECT_THROW(clip_norm(some(), 0), std::invalid_argument);
  EXPECT_THROW(clip_value(some(), -1), std::invalid_argument);
  EXPECT_THROW(clip_adaptive(some(), {.ratio = std::nan("")}), std::invalid_argument);
}

/// Ranks that were asked before: each sees the sum that was worked out for all.
Ranks with_sum(double others) {
  return {0, 2, [others](at::Tensor& numbers) { numbers.add_(others); }};
}

TEST(Clip, AgreesWithOtherRanksOnTheNorm) {
  const Ranks sharded = with_sum(144);  // 25 here, 144 there: 13 together
  EXPECT_DOUBLE_EQ(clip_norm(some(), 1, {&sharded, GradientsAre::sharded}), 13);
  const Ranks replicated = with_sum(27);  // the other one rounded a little differently
  EXPECT_DOUBLE_EQ(clip_norm(some(), 1, {&replicated}), std::sqrt(26));
}

TEST(Clip, LeavesGradientsWhenAnotherRanksAreNotFinite) {
  const Ranks ranks = with_sum(kInfinity);
  const std::vector<at::Tensor> parameters = some();
  EXPECT_FALSE(std::isfinite(clip_norm(parameters, 1, {&ranks})));
  EXPECT_EQ(parameters[0].grad()[0].item<double>(), 3);
}

}  // namespace
}  // namespace osler::torch
