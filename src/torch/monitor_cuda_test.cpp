// The monitor, the tracer and the origin of a NaN on a GPU: everything is measured through copies on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "osler/torch/monitor.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
using testing::Contains;
using testing::HasSubstr;

/// A model with running statistics and random numbers, so that a replay has something to put back.
struct Net : nn::Module {
  nn::Linear fc1{register_module("fc1", nn::Linear(4, 16))};
  nn::BatchNorm1d bn{register_module("bn", nn::BatchNorm1d(16))};
  nn::Dropout drop{register_module("drop", nn::Dropout(0.3))};
  nn::Linear fc2{register_module("fc2", nn::Linear(16, 3))};
  at::Tensor forward(const at::Tensor& x) { return fc2(drop(at::relu(bn(fc1(x))))); }
};

struct MonitorOnCuda : testing::Test {
  void SetUp() override {
    if (!::torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device, or a LibTorch without CUDA";
    ::torch::manual_seed(1);
    net.to(gpu);
    x = at::randn({12, 4}).to(gpu);
    y = at::arange(12).remainder(3).to(gpu);
  }
  at::Tensor loss() { return at::cross_entropy_loss(net.forward(x), y); }

  const at::Device gpu{at::kCUDA, 0};
  Net net;
  at::Tensor x;
  at::Tensor y;
};

TEST_F(MonitorOnCuda, MeasuresParametersAndActivations) {
  ::torch::optim::Adam optimizer(net.parameters(), 1e-2);
  MonitorOptions options;
  options.statistics_every = 1;
  options.trace_every = 1;
  Monitor monitor(net, optimizer, std::move(options));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(monitor.train_step([&] { return loss(); }));
  const Report report = monitor.report();
  ASSERT_TRUE(report.roles.contains("layer-gradient"));
  EXPECT_THAT(report.roles.at("layer-gradient"), Contains("gradients/fc1.weight#norm"));
  EXPECT_THAT(report.roles.at("layer-weight"), Contains("weights/fc2.bias#std"));
  EXPECT_THAT(report.roles.at("layer-update"), Contains("updates/fc1.weight#ratio"));
  EXPECT_THAT(report.roles.at("layer-activation"), Contains("activations/fc1 -> bn -> relu#norm"));
  EXPECT_GT(monitor.gradient_norm().value_or(0), 0);
}

TEST_F(MonitorOnCuda, SaysThatCopyingIsSlow) {
  ::torch::optim::Adam optimizer(net.parameters(), 1e-2);
  Monitor monitor(net, optimizer);
  monitor.train_step([&] { return loss(); });
  EXPECT_THAT(monitor.summary(), HasSubstr("copied to the host to be measured, which is slow"));
}

TEST_F(MonitorOnCuda, FindsTheOriginOfANanAndLeavesTheStepOut) {
  ::torch::optim::Adam optimizer(net.parameters(), 1e-2);
  Monitor monitor(net, optimizer);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(monitor.train_step([&] { return loss(); }));
  const at::Tensor weight = net.fc1->weight.detach().clone();
  const at::Tensor running = net.bn->running_mean.clone();
  EXPECT_FALSE(monitor.train_step([&] { return at::log(at::relu(net.forward(x)) * 0).mean(); }));
  ASSERT_TRUE(monitor.origin());
  EXPECT_EQ(monitor.origin()->cause, OriginCause::log_of_zero) << describe(*monitor.origin());
  EXPECT_EQ(monitor.origin()->layer, "fc2 -> relu");
  ASSERT_FALSE(monitor.origin()->offenders.empty());
  EXPECT_EQ(monitor.origin()->offenders.front().inputs, std::vector<double>{0});
  EXPECT_TRUE(at::equal(net.fc1->weight, weight));
  EXPECT_TRUE(at::equal(net.bn->running_mean, running));
  EXPECT_TRUE(monitor.train_step([&] { return loss(); }));
}

TEST_F(MonitorOnCuda, FindsTheOriginInTheBackwardPass) {
  const auto origin = trace_origin(net, [&] {
    const at::Tensor out = net.forward(x);
    return out.square().mean() + at::sqrt((out - out).square()).mean();
  });
  ASSERT_TRUE(origin);
  EXPECT_EQ(origin->cause, OriginCause::sqrt_at_zero) << describe(*origin);
  EXPECT_TRUE(origin->backward);
}

TEST_F(MonitorOnCuda, FindsNonfiniteParameters) {
  {
    const at::NoGradGuard no_graph;
    net.fc1->weight[2][1] = std::numeric_limits<float>::quiet_NaN();
  }
  const std::vector<NonfiniteTensor> found = find_nonfinite(net);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().name, "fc1.weight");
  EXPECT_EQ(found.front().first, (std::vector<std::int64_t>{2, 1}));
}

TEST_F(MonitorOnCuda, LooksAtBatches) {
  at::Tensor bad = x.clone();
  bad[3][2] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(validate_batch(bad, y).nonfinite, 1U);
  EXPECT_EQ(validate_batch(x, y, {2, 100}).invalid_labels, 4U);
}

TEST_F(MonitorOnCuda, ChangesNothing) {
  constexpr int kBroken = 25;
  const auto trained = [&](bool watched) {
    ::torch::manual_seed(7);
    Net own;
    own.to(gpu);
    ::torch::optim::Adam optimizer(own.parameters(), 1e-2);
    MonitorOptions options;
    options.statistics_every = 3;
    options.trace_every = 4;
    std::optional<Monitor> monitor;
    if (watched) monitor.emplace(own, optimizer, std::move(options));
    for (int step = 0; step < 60; ++step) {
      const auto compute = [&] {
        const at::Tensor value = at::cross_entropy_loss(own.forward(x), y);
        return step == kBroken ? at::log(value * 0 - at::rand({}, gpu)) : value;
      };
      if (watched) {
        EXPECT_EQ(monitor->train_step(compute), step != kBroken);
        continue;
      }
      optimizer.zero_grad();
      compute().backward();
      if (step != kBroken) optimizer.step();
    }
    return nn::utils::parameters_to_vector(own.parameters());
  };
  const at::Tensor alone = trained(false);
  EXPECT_TRUE(at::isfinite(alone).all().item<bool>());
  EXPECT_TRUE(at::equal(alone, trained(true)));
}

}  // namespace
}  // namespace osler::torch
