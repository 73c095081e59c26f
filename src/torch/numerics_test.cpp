// The stable forms against LibTorch's, and where the naive ones fail.
#include "osler/torch/numerics.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace osler::torch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor naive_softmax(const at::Tensor& x) {
  return x.exp() / x.exp().sum(-1, true);
}

bool finite(const at::Tensor& x) {
  return at::isfinite(x).all().item<bool>();
}

TEST(Numerics, AgreeWithLibTorch) {
  ::torch::manual_seed(1);
  for (const double size : {1e-3, 1.0, 30.0, 1e4}) {
    const at::Tensor x = at::randn({7, 5, 3}) * size;
    for (const std::int64_t dimension : {-1, 0, 1}) {
      EXPECT_TRUE(at::allclose(stable_softmax(x, dimension), at::softmax(x, dimension), 1e-5, 1e-7));
      EXPECT_TRUE(at::allclose(stable_log_softmax(x, dimension), at::log_softmax(x, dimension), 1e-5, 1e-5));
      EXPECT_TRUE(at::allclose(stable_log_sum_exp(x, dimension), at::logsumexp(x, dimension), 1e-5, 1e-5));
    }
    const at::Tensor targets = at::randint(0, 5, {7}, at::kLong);
    const at::Tensor logits = x.select(2, 0);
    EXPECT_TRUE(
        at::allclose(stable_cross_entropy(logits, targets), at::cross_entropy_loss(logits, targets), 1e-5, 1e-5));
  }
}

TEST(Numerics, SoftmaxHoldsWhereTheNaiveOneOverflows) {
  const at::Tensor x = at::tensor({1000.0F, 999.0F, 0.0F});
  EXPECT_FALSE(finite(naive_softmax(x)));  // infinity over infinity
  EXPECT_TRUE(at::allclose(stable_softmax(x), at::tensor({0.7310586F, 0.2689414F, 0.0F})));
  // In float exp() overflows from 89 on, in half from 12 on.
  EXPECT_FALSE(finite(naive_softmax(at::tensor({89.0F, 0.0F}))));
  EXPECT_TRUE(finite(stable_softmax(at::tensor({89.0F, 0.0F}))));
}

TEST(Numerics, SoftmaxHoldsWhereTheNaiveOneVanishes) {
  const at::Tensor x = at::tensor({-1000.0F, -1001.0F});
  EXPECT_FALSE(finite(naive_softmax(x)));  // zero over zero
  EXPECT_TRUE(at::allclose(stable_softmax(x), at::tensor({0.7310586F, 0.2689414F})));
}

TEST(Numerics, LogSoftmaxHoldsWhereTheLogOfSoftmaxIsInfinite) {
  const at::Tensor x = at::tensor({0.0F, -200.0F});
  EXPECT_EQ(stable_softmax(x).log()[1].item<double>(), -kInfinity);
  EXPECT_EQ(stable_log_softmax(x)[1].item<double>(), -200);
}

TEST(Numerics, LogSumExpHoldsOnBothSides) {
  for (const float shift : {-1e4F, 1e4F}) {
    const at::Tensor x = at::tensor({shift, shift});
    EXPECT_FALSE(finite(x.exp().sum().log()));
    EXPECT_NEAR(stable_log_sum_exp(x).item<double>(), shift + std::log(2.0), 1e-3);
  }
  EXPECT_EQ(stable_log_sum_exp(at::tensor({-kInfinity, -kInfinity})).item<double>(), -kInfinity);
  EXPECT_EQ(stable_log_sum_exp(at::tensor({kInfinity, 1.0})).item<double>(), kInfinity);
  EXPECT_NEAR(stable_log_sum_exp(at::tensor({-kInfinity, 1.0})).item<double>(), 1, 1e-12);
}

TEST(Numerics, MaskedElementsGetNoProbability) {
  const at::Tensor x = at::tensor({2.0, -kInfinity, 2.0});
  EXPECT_TRUE(at::equal(stable_softmax(x), at::tensor({0.5, 0.0, 0.5})));
}

TEST(Numerics, CrossEntropyAndItsGradientHoldForAConfidentMistake) {
  const at::Tensor targets = at::tensor({1}, at::kLong);
  at::Tensor naive = at::tensor({200.0F, 0.0F}).view({1, 2}).requires_grad_();
  const at::Tensor lost = -naive_softmax(naive).select(1, 1).log().mean();
  EXPECT_FALSE(finite(lost));
  lost.backward();
  EXPECT_FALSE(finite(naive.grad()));

  at::Tensor stable = at::tensor({200.0F, 0.0F}).view({1, 2}).requires_grad_();
  const at::Tensor loss = stable_cross_entropy(stable, targets);
  EXPECT_EQ(loss.item<double>(), 200);
  loss.backward();
  EXPECT_TRUE(at::allclose(stable.grad(), at::tensor({1.0F, -1.0F}).view({1, 2})));
}

TEST(Numerics, GradientsAreLibTorchs) {
  ::torch::manual_seed(2);
  at::Tensor ours = (at::randn({6, 4}, at::kDouble) * 5).requires_grad_();
  at::Tensor theirs = ours.detach().clone().requires_grad_();
  const at::Tensor targets = at::tensor({0, 1, 2, 3, 0, 1}, at::kLong);
  (stable_cross_entropy(ours, targets) + stable_softmax(ours).square().sum() + stable_log_sum_exp(ours).sum())
      .backward();
  (at::cross_entropy_loss(theirs, targets) + at::softmax(theirs, -1).square().sum() + at::logsumexp(theirs, -1).sum())
      .backward();
  EXPECT_TRUE(at::allclose(ours.grad(), theirs.grad(), 1e-10, 1e-12));
}

TEST(Numerics, RefusesTargetsThatAreNoClasses) {
  const at::Tensor logits = at::zeros({2, 3});
  EXPECT_THROW(static_cast<void>(stable_cross_entropy(logits, at::tensor({0, 3}))), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(stable_cross_entropy(logits, at::tensor({0, -1}))), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(stable_cross_entropy(logits, at::tensor({0.0, 1.0}))), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(stable_cross_entropy(logits, at::tensor({0}))), std::invalid_argument);
}

}  // namespace
}  // namespace osler::torch
