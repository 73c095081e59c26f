// Faults that need no statistics are seen and told within a hundred steps at the default budget, in a training that is
// quick, whether anybody asks for a report or not; and programs that are sound but unusual are not accused of anything,
// at any report on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <memory>
#include <vector>

#include "osler/torch/monitor.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
constexpr int kSteps = 100;
constexpr std::int64_t kBatch = 24;

/// Three clouds of points to be told apart.
struct Clouds {
  at::Tensor centres = at::randn({3, 6}) * 2;
  [[nodiscard]] std::pair<at::Tensor, at::Tensor> draw(std::optional<std::int64_t> only = {}) const {
    const at::Tensor y = only ? at::full({kBatch}, *only, at::kLong) : at::randint(0, 3, {kBatch}, at::kLong);
    return {(centres.index_select(0, y) + at::randn({kBatch, 6})) / 2, y};
  }
};

struct Net : nn::Module {
  nn::Linear first{register_module("first", nn::Linear(6, 16))};
  nn::BatchNorm1d norm{register_module("norm", nn::BatchNorm1d(16))};
  nn::Linear second{register_module("second", nn::Linear(16, 16))};
  nn::Linear spare{register_module("spare", nn::Linear(16, 16))};
  nn::Linear last{register_module("last", nn::Linear(16, 3))};
  bool detached = false;
  bool uses_spare = true;
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor h = at::relu(norm(first(x)));
    if (detached) h = h.detach();
    h = at::relu(second(h));
    if (uses_spare) h = h + spare(h);
    return last(h);
  }
};

std::vector<std::string> findings_of(Monitor& monitor, Severity least) {
  std::vector<std::string> ids;
  for (const Observation& observation : monitor.report().findings) {
    if (observation.severity >= least) ids.push_back(observation.finding + ": " + observation.summary);
  }
  return ids;
}

/// A training of a hundred steps at the default budget with a fault in it; what was found.
struct Faulty {
  std::function<void(Net&)> prepare = [](Net&) {};
  bool clear = true;
  bool sorted = false;
  double rate = 0.05;

  /// What was told on the way, with no report asked for.
  [[nodiscard]] std::vector<std::string> found() const {
    ::torch::manual_seed(5);
    Net net;
    prepare(net);
    ::torch::optim::SGD optimizer(net.parameters(), rate);
    std::vector<std::string> told;
    MonitorOptions options;
    options.on_finding = [&](const Observation& observation) {
      if (observation.severity >= Severity::warning) told.push_back(observation.finding + ": " + observation.summary);
    };
    Monitor monitor(net, optimizer, std::move(options));
    const Clouds clouds;
    for (int i = 0; i < kSteps; ++i) {
      const auto [x, y] = clouds.draw(sorted ? std::optional<std::int64_t>(i % 3) : std::nullopt);
      monitor.batch(x, y);
      if (clear) optimizer.zero_grad();
      const at::Tensor loss = at::cross_entropy_loss(net.forward(x), y);
      loss.backward();
      if (monitor.step(loss)) optimizer.step();
    }
    return told;
  }
};

TEST(EarlyFaults, ADetachedLayer) {
  const Faulty faulty{[](Net& net) { net.detached = true; }};
  EXPECT_THAT(faulty.found(), testing::Contains(testing::HasSubstr("first")));
}

TEST(EarlyFaults, AnUnusedLayer) {
  const Faulty faulty{[](Net& net) { net.uses_spare = false; }};
  EXPECT_THAT(faulty.found(), testing::Contains(testing::HasSubstr("spare")));
}

TEST(EarlyFaults, GradientsThatNobodyClears) {
  Faulty faulty;
  faulty.clear = false;
  faulty.rate = 0.002;  // so that it does not break before it can be seen
  EXPECT_THAT(faulty.found(), testing::Contains(testing::HasSubstr("gradients-accumulating")));
}

TEST(EarlyFaults, EvaluationMode) {
  const Faulty faulty{[](Net& net) { net.eval(); }};
  EXPECT_THAT(faulty.found(), testing::Contains(testing::HasSubstr("eval-mode-in-training")));
}

TEST(EarlyFaults, AParameterWithoutGradient) {
  const Faulty faulty{[](Net& net) { net.register_parameter("scale", at::ones({3})); }};
  EXPECT_THAT(faulty.found(), testing::Contains(testing::HasSubstr("scale")));
}

TEST(EarlyFaults, WhatTheFirstValidationShowsIsToldThen) {
  ::torch::manual_seed(5);
  Net net;
  ::torch::optim::SGD optimizer(net.parameters(), 0.05);
  std::vector<std::string> told;
  MonitorOptions options;
  options.on_finding = [&](const Observation& observation) { told.push_back(observation.finding); };
  Monitor monitor(net, optimizer, std::move(options));
  const Clouds clouds;
  for (int i = 0; i < 30; ++i) {
    const auto [x, y] = clouds.draw();
    monitor.train_step([&, &x = x, &y = y] { return at::cross_entropy_loss(net.forward(x), y); });
  }
  const auto [x, y] = clouds.draw();
  monitor.validation_batch(net.forward(x).detach());
  EXPECT_THAT(told, testing::IsEmpty());
  monitor.validation(0.5);
  EXPECT_THAT(told, testing::Contains("train-mode-in-validation"));
}

TEST(EarlyFaults, OneClassInEachBatch) {
  Faulty faulty;
  faulty.sorted = true;
  EXPECT_THAT(faulty.found(), testing::Contains(testing::HasSubstr("the data is sorted")));
}

TEST(EarlyFaults, NothingIsFoundInTheSameTrainingWithoutAFault) {
  EXPECT_THAT(Faulty().found(), testing::IsEmpty());
}

/// Reports are asked for on the way, and none may warn.
class SoundPrograms : public testing::Test {
 protected:
  SoundPrograms() { ::torch::manual_seed(7); }
  void look(Monitor& monitor, int step) {
    if (step % 50 != 49) return;
    EXPECT_THAT(findings_of(monitor, Severity::warning), testing::IsEmpty()) << "at step " << step;
  }
  Clouds clouds;
  Net net;
};

TEST_F(SoundPrograms, TwoOptimizersOnOneModel) {
  std::vector<at::Tensor> body = net.first->parameters();
  const std::vector<std::shared_ptr<::torch::nn::Module>> others = {net.norm.ptr(), net.second.ptr(), net.spare.ptr()};
  for (const auto& module : others) {
    for (const at::Tensor& parameter : module->parameters()) body.push_back(parameter);
  }
  ::torch::optim::SGD slow(body, 0.02);
  ::torch::optim::Adam quick(net.last->parameters(), 0.01);
  Monitor monitor(net, slow);
  for (int i = 0; i < 300; ++i) {
    const auto [x, y] = clouds.draw();
    monitor.batch(x, y);
    slow.zero_grad();
    quick.zero_grad();
    const at::Tensor loss = at::cross_entropy_loss(net.forward(x), y);
    loss.backward();
    if (monitor.step(loss)) {
      slow.step();
      quick.step();
    }
    look(monitor, i);
  }
}

TEST_F(SoundPrograms, AccumulationOverFourBatches) {
  ::torch::optim::SGD optimizer(net.parameters(), 0.05);
  Monitor monitor(net, optimizer);
  for (int i = 0; i < 300; ++i) {
    optimizer.zero_grad();
    at::Tensor sum = at::zeros({});
    for (int part = 0; part < 4; ++part) {
      const auto [x, y] = clouds.draw();
      const at::Tensor loss = at::cross_entropy_loss(net.forward(x), y) / 4;
      loss.backward();
      sum += loss.detach();
    }
    if (monitor.step(sum)) optimizer.step();
    look(monitor, i);
  }
}

TEST_F(SoundPrograms, FineTuningThatUnfreezesLater) {
  for (at::Tensor& parameter : net.first->parameters()) parameter.set_requires_grad(false);
  ::torch::optim::SGD optimizer(net.parameters(), 0.05);
  Monitor monitor(net, optimizer);
  for (int i = 0; i < 300; ++i) {
    if (i == 100) {
      for (at::Tensor& parameter : net.first->parameters()) parameter.set_requires_grad(true);
    }
    const auto [x, y] = clouds.draw();
    monitor.batch(x, y);
    const auto compute = [&, &x = x, &y = y] { return at::cross_entropy_loss(net.forward(x), y); };
    monitor.train_step(compute);
    look(monitor, i);
  }
}

TEST_F(SoundPrograms, LabelsThatAreIgnored) {
  ::torch::optim::SGD optimizer(net.parameters(), 0.05);
  MonitorOptions options;
  options.classes = 3;
  Monitor monitor(net, optimizer, std::move(options));
  for (int i = 0; i < 300; ++i) {
    auto [x, y] = clouds.draw();
    y.slice(0, 0, 4).fill_(-100);
    monitor.batch(x, y);
    const auto compute = [&, &x = x, &y = y] { return nn::functional::cross_entropy(net.forward(x), y); };
    monitor.train_step(compute);
    look(monitor, i);
  }
}

TEST_F(SoundPrograms, TheSameBatchOfAllDataEveryTime) {
  ::torch::optim::SGD optimizer(net.parameters(), 0.02);
  Monitor monitor(net, optimizer);
  const auto [x, y] = clouds.draw();
  for (int i = 0; i < 300; ++i) {
    const auto compute = [&, &x = x, &y = y] { return at::cross_entropy_loss(net.forward(x), y); };
    monitor.train_step(compute);
    look(monitor, i);
  }
}

TEST_F(SoundPrograms, AGeneratorAndItsCriticTakeTurnsAndNobodyWaitsForData) {
  nn::Sequential generator(nn::Linear(4, 16), nn::ReLU(), nn::Linear(16, 6));
  nn::Sequential critic(nn::Linear(6, 16), nn::LeakyReLU(), nn::Linear(16, 1));
  ::torch::optim::Adam makes(generator->parameters(), 1e-3);
  ::torch::optim::Adam judges(critic->parameters(), 1e-3);
  Monitor of_generator(*generator, makes);
  Monitor of_critic(*critic, judges);
  const auto believed = [&](const at::Tensor& x, double as) {
    return nn::functional::binary_cross_entropy_with_logits(critic->forward(x), at::full({kBatch, 1}, as));
  };
  for (int i = 0; i < 200; ++i) {
    const at::Tensor real = clouds.draw().first;
    const at::Tensor seeds = at::randn({kBatch, 4});
    of_critic.train_step([&] { return believed(real, 1) + believed(generator->forward(seeds).detach(), 0); });
    of_generator.train_step([&] { return believed(generator->forward(seeds), 1); });
  }
  for (Monitor* const monitor : {&of_generator, &of_critic}) {
    for (const std::string& finding : findings_of(*monitor, Severity::warning)) {
      EXPECT_THAT(finding, testing::Not(testing::StartsWith("input-starved")));
    }
  }
}

}  // namespace
}  // namespace osler::torch
