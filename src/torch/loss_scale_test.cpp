// Loss scaling: what half precision loses without it, and how the scale finds its height.
#include "osler/torch/loss_scale.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace osler::torch {
namespace {

at::Tensor with_gradient(const at::Tensor& gradient) {
  at::Tensor parameter = at::ones_like(gradient).requires_grad_();
  parameter.mutable_grad() = gradient.clone();
  return parameter;
}

TEST(LossScale, BringsGradientsThroughHalfPrecisionThatVanishWithoutIt) {
  constexpr double kSmall = 1e-9;  // the smallest half is about 6e-8
  // A weight in full precision used in half precision: its gradient passes through half precision, as on a device.
  const auto gradient_with = [&](double scale) {
    at::Tensor weight = at::ones({3}).requires_grad_();
    weight.register_hook([](const at::Tensor& gradient) { return gradient.to(at::kHalf).to(at::kFloat); });
    (weight.sum() * kSmall * scale).backward();
    return weight;
  };
  EXPECT_EQ(gradient_with(1).grad().abs().sum().item<double>(), 0);
  LossScale scale;
  const at::Tensor weight = gradient_with(scale.value());
  EXPECT_TRUE(scale.unscale({weight}));
  EXPECT_NEAR(weight.grad()[0].item<double>(), kSmall, 1e-3 * kSmall);
}

TEST(LossScale, WidensHalfGradientsForTheirMastersBeforeItDivides) {
  const LossScaleOptions options;
  const at::Tensor half = with_gradient(at::full({4}, 1e-9 * options.start).to(at::kHalf));
  at::Tensor master = at::ones({4}).requires_grad_();
  LossScale scale(options);
  EXPECT_TRUE(scale.unscale({half}, {master}));
  EXPECT_NEAR(master.grad()[0].item<double>(), 1e-9, 1e-12);
  EXPECT_EQ(half.grad().to(at::kFloat).abs().sum().item<double>(), 0);
}

TEST(LossScale, LeavesEveryDigitOfAGradientAsItIs) {
  ::torch::manual_seed(1);
  at::Tensor plain = at::randn({100}).requires_grad_();
  at::Tensor scaled = plain.detach().clone().requires_grad_();
  plain.sin().sum().backward();
  LossScale scale;
  scale.scaled(scaled.sin().sum()).backward();
  EXPECT_TRUE(scale.unscale({scaled}));
  EXPECT_TRUE(at::equal(plain.grad(), scaled.grad()));
}

TEST(LossScale, BacksOffAtAnOverflowAndClearsTheGradients) {
  LossScale scale({.start = 1024});
  // 100 * 1024 is beyond half precision.
  const at::Tensor parameter = with_gradient(at::tensor({100.0F, 1.0F}).mul(1024).to(at::kHalf));
  EXPECT_FALSE(scale.unscale({parameter}));
  EXPECT_EQ(scale.value(), 512);
  EXPECT_EQ(scale.state().overflows, 1);
  EXPECT_EQ(parameter.grad().to(at::kFloat).abs().sum().item<double>(), 0);
  const at::Tensor again = with_gradient(at::tensor({100.0F, 1.0F}).mul(512).to(at::kHalf));
  EXPECT_TRUE(scale.unscale({again}));
  EXPECT_EQ(again.grad()[0].item<double>(), 100);
}

TEST(LossScale, GrowsAfterEnoughGoodSteps) {
  LossScale scale({.start = 8, .growth_every = 3, .most = 16});
  std::vector<double> seen;
  for (int step = 0; step < 9; ++step) {
    seen.push_back(scale.value());
    ASSERT_TRUE(scale.unscale({with_gradient(at::ones({1}))}));
  }
  EXPECT_EQ(seen, (std::vector<double>{8, 8, 8, 16, 16, 16, 16, 16, 16}));
}

TEST(LossScale, FallsNoFurtherThanItsLeast) {
  LossScale scale({.start = 4, .least = 2});
  for (int step = 0; step < 5; ++step) {
    ASSERT_FALSE(scale.unscale({with_gradient(at::full({1}, std::nan("")))}));
  }
  EXPECT_EQ(scale.value(), 2);
}

TEST(LossScale, GoesOnFromItsState) {
  LossScale straight({.start = 8, .growth_every = 5});
  LossScale resumed({.start = 8, .growth_every = 5});
  const auto step = [](LossScale& scale, int i) {
    return scale.unscale({with_gradient(at::full({1}, i % 7 == 3 ? std::numeric_limits<double>::infinity() : 1.0))});
  };
  for (int i = 0; i < 9; ++i) static_cast<void>(step(straight, i));
  resumed.load(straight.state());
  for (int i = 9; i < 40; ++i) {
    EXPECT_EQ(step(resumed, i), step(straight, i));
    EXPECT_EQ(resumed.state(), straight.state());
  }
}

TEST(LossScale, LeavesTheStepOutOnAllRanksWhenOneOverflows) {
  const Ranks other_overflowed = {0, 2, [](at::Tensor& bad) { bad.add_(1); }};
  LossScale scale({.start = 8});
  EXPECT_FALSE(scale.unscale({with_gradient(at::ones({2}))}, &other_overflowed));
  EXPECT_EQ(scale.value(), 4);
}

TEST(LossScale, RefusesOptionsThatMakeNoSense) {
  EXPECT_THROW(LossScale({.start = 0}), std::invalid_argument);
  EXPECT_THROW(LossScale({.back_off = 1}), std::invalid_argument);
  EXPECT_THROW(LossScale({.start = 8, .most = 4}), std::invalid_argument);
  LossScale scale;
  EXPECT_THROW(static_cast<void>(scale.unscale({at::ones({1})}, std::vector<at::Tensor>{})), std::invalid_argument);
}

}  // namespace
}  // namespace osler::torch
