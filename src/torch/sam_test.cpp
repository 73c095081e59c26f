// Sharpness-aware steps: the arithmetic, and where they lead.
#include "osler/torch/sam.h"

#include <gtest/gtest.h>
#include <torch/optim/sgd.h>

#include <cmath>

namespace osler::torch {
namespace {

using ::torch::optim::SGD;

at::Tensor weight_at(std::vector<double> values) {
  return at::tensor(std::move(values), at::kDouble).requires_grad_();
}

TEST(Sam, TakesTheGradientUphillAndStepsFromWhereItWas) {
  // The loss is x^2 / 2 + 2 y^2 at (3, 2): the gradient is (3, 8).
  const at::Tensor weight = weight_at({3, 2});
  SGD optimizer({weight}, 0.1);
  Sam sam(optimizer, 0.5);
  const at::Tensor curvature = at::tensor({0.5, 2.0}, at::kDouble);
  const at::Tensor loss = sam.step([&] { return (curvature * weight.square()).sum(); });
  EXPECT_DOUBLE_EQ(loss.item<double>(), 12.5);
  const double length = std::sqrt(73.0);
  EXPECT_NEAR(weight[0].item<double>(), 3 - 0.1 * (3 + 0.5 * 3 / length), 1e-12);
  EXPECT_NEAR(weight[1].item<double>(), 2 - 0.1 * 4 * (2 + 0.5 * 8 / length), 1e-12);
}

TEST(Sam, PutsTheWeightsBackToTheBit) {
  const at::Tensor weight = at::rand({1000}).requires_grad_();
  const at::Tensor before = weight.detach().clone();
  SGD optimizer({weight}, 0.1);
  Sam sam(optimizer, 1e-3);
  weight.square().sum().backward();
  ASSERT_TRUE(sam.climb());
  EXPECT_FALSE(weight.detach().equal(before));
  sam.descend();
  EXPECT_TRUE(weight.detach().equal(before));
  {
    Sam left(optimizer, 1e-3);
    ASSERT_TRUE(left.climb());
  }
  EXPECT_TRUE(weight.detach().equal(before)) << "one that goes puts them back";
}

TEST(Sam, StaysWhereThereIsNoDirection) {
  const at::Tensor weight = weight_at({0, 0});
  SGD optimizer({weight}, 0.1);
  Sam sam(optimizer);
  weight.square().sum().backward();
  EXPECT_FALSE(sam.climb());
  weight.mutable_grad().fill_(std::nan(""));
  EXPECT_FALSE(sam.climb());
  EXPECT_TRUE(weight.detach().equal(at::zeros({2}, at::kDouble)));
  sam.step([&] { return weight.square().sum(); });
  EXPECT_TRUE(weight.detach().equal(at::zeros({2}, at::kDouble)));
}

TEST(Sam, DriftsAlongTheBottomOfAValleyToWhereItIsFlat) {
  const auto ends_at = [](double radius) {
    const at::Tensor weight = weight_at({1, 0.5});  // the valley lies along y = 0, and its walls get steeper with x
    SGD optimizer({weight}, 0.02);
    Sam sam(optimizer, radius);
    for (int i = 0; i < 400; ++i) {
      sam.step([&] { return 0.5 * (1 + 10 * weight[0].square()) * weight[1].square(); });
    }
    return std::abs(weight[0].item<double>());
  };
  EXPECT_GT(ends_at(1e-6), 0.5) << "plain descent stops where it reaches the bottom";
  EXPECT_LT(ends_at(0.3), 0.05);
}

TEST(Sam, RefusesARadiusThatMeansNothing) {
  const at::Tensor weight = weight_at({1});
  SGD optimizer({weight}, 0.1);
  for (const double radius : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(Sam(optimizer, radius), std::invalid_argument);
  }
}

}  // namespace
}  // namespace osler::torch
