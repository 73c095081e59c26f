// The monitor in small trainings: what it records, how it guards, what it refuses.
#include "osler/torch/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <stdexcept>

#include "torch/test_seed.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
using testing::Contains;
using testing::HasSubstr;

struct MonitorTest : TestSeed, testing::Test {
  MonitorTest() : TestSeed(1) {}
  nn::Sequential model{nn::Linear(4, 8), nn::BatchNorm1d(8), nn::ReLU(), nn::Linear(8, 3)};
  ::torch::optim::SGD optimizer{model->parameters(), ::torch::optim::SGDOptions(0.1)};
  at::Tensor x = at::randn({12, 4});
  at::Tensor y = at::arange(12).remainder(3);

  at::Tensor loss() { return at::cross_entropy_loss(model->forward(x), y); }
  template <typename Act>
  static std::string refusal(Act act) {
    try {
      act();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(MonitorTest, LetsAHealthyStepPass) {
  Monitor monitor(*model, optimizer);
  for (int i = 0; i < 5; ++i) {
    optimizer.zero_grad();
    const at::Tensor value = loss();
    value.backward();
    ASSERT_TRUE(monitor.step(value));
    optimizer.step();
  }
  EXPECT_EQ(monitor.steps(), 5);
  EXPECT_EQ(monitor.skipped(), 0);
  EXPECT_TRUE(monitor.quick_check().empty());
}

TEST_F(MonitorTest, StopsAStepWithANonfiniteLossAndKeepsTheState) {
  MonitorOptions options;
  std::vector<std::string> lines;
  options.on_line = [&](const std::string& line) { lines.push_back(line); };
  Monitor monitor(*model, optimizer, std::move(options));
  const at::Tensor weight = model->parameters()[0].detach().clone();
  const at::Tensor running = model->buffers()[0].clone();
  EXPECT_FALSE(monitor.train_step([&] { return at::log(model->forward(x) * 0).mean(); }));
  EXPECT_EQ(monitor.skipped(), 1);
  EXPECT_TRUE(at::equal(model->parameters()[0], weight));
  EXPECT_TRUE(at::equal(model->buffers()[0], running));
  // LibTorch 1.13 clears gradients to zero, 2.x takes them away.
  const at::Tensor gradient = model->parameters()[0].grad();
  EXPECT_TRUE(!gradient.defined() || gradient.abs().sum().item<double>() == 0);
  ASSERT_TRUE(monitor.origin());
  EXPECT_EQ(monitor.origin()->cause, OriginCause::log_of_zero);
  EXPECT_EQ(monitor.origin()->layer, "3");
  EXPECT_THAT(lines, Contains(HasSubstr("log")));
  EXPECT_TRUE(monitor.train_step([&] { return loss(); }));
}

TEST_F(MonitorTest, StopsAStepWhoseGradientsAloneAreNotFinite) {
  Monitor monitor(*model, optimizer);
  EXPECT_FALSE(monitor.train_step([&] {
    const at::Tensor out = model->forward(x);
    return out.square().mean() + at::sqrt((out - out).square()).mean();
  }));
  ASSERT_TRUE(monitor.origin());
  EXPECT_EQ(monitor.origin()->cause, OriginCause::sqrt_at_zero);
  EXPECT_TRUE(monitor.origin()->backward);
}

TEST_F(MonitorTest, FindsTheOriginAfterPlainStepsWhenToldHowToReplay) {
  Monitor monitor(*model, optimizer);
  bool broken = false;
  const auto compute = [&] { return broken ? at::exp(model->forward(x) * 1e6).mean() : loss(); };
  monitor.replay_with(compute);
  for (int i = 0; i < 6; ++i) {
    broken = i == 5;
    optimizer.zero_grad();
    const at::Tensor value = compute();
    value.backward();
    const bool go = monitor.step(value);
    EXPECT_EQ(go, !broken);
    if (go) optimizer.step();
  }
  ASSERT_TRUE(monitor.origin());
  EXPECT_EQ(monitor.origin()->cause, OriginCause::exp_overflow);
}

TEST_F(MonitorTest, FindsAFaultAfterManyHealthySteps) {
  constexpr int kFault = 500;
  Monitor monitor(*model, optimizer);
  for (int i = 0; i < kFault; ++i) ASSERT_TRUE(monitor.train_step([&] { return loss(); }));
  at::Tensor bad = x.clone();
  bad[7][2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(monitor.train_step([&] { return at::cross_entropy_loss(model->forward(bad), y); }));
  ASSERT_TRUE(monitor.origin());
  EXPECT_EQ(monitor.origin()->cause, OriginCause::corrupt_data);
  EXPECT_EQ(monitor.origin()->layer, "0");
  EXPECT_EQ(monitor.origin()->offenders.front().index, (std::vector<std::int64_t>{7, 2}));
  EXPECT_TRUE(monitor.train_step([&] { return loss(); }));
  EXPECT_TRUE(find_nonfinite(*model).empty());
}

TEST_F(MonitorTest, TracesEveryStepWhenAsked) {
  MonitorOptions options;
  options.trace_always = true;
  Monitor monitor(*model, optimizer, std::move(options));
  optimizer.zero_grad();
  const at::Tensor value = (model->forward(x) / at::zeros({3})).mean();
  value.backward();
  EXPECT_FALSE(monitor.step(value));
  ASSERT_TRUE(monitor.origin());
  EXPECT_EQ(monitor.origin()->cause, OriginCause::division_by_zero);
}

TEST_F(MonitorTest, NamesTheCauseInTheReport) {
  Monitor monitor(*model, optimizer);
  for (int i = 0; i < 40; ++i) {
    monitor.train_step([&] { return i == 30 ? at::log(model->forward(x) * 0).mean() : loss(); });
  }
  const Report report = monitor.report();
  ASSERT_FALSE(report.causes.empty());
  EXPECT_EQ(report.causes.front().cause, "log-of-zero");
  EXPECT_FALSE(report.marks.empty());
}

TEST_F(MonitorTest, ClipsTheGlobalNormAsLibTorchDoes) {
  MonitorOptions options;
  options.clip_norm = 0.01;
  Monitor monitor(*model, optimizer, std::move(options));
  loss().backward();
  std::vector<at::Tensor> expected;
  for (const at::Tensor& parameter : model->parameters()) expected.push_back(parameter.grad().clone());
  const double norm = nn::utils::clip_grad_norm_(model->parameters(), 0.01);
  std::vector<at::Tensor> clipped;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    clipped.push_back(model->parameters()[i].grad().clone());
    model->parameters()[i].mutable_grad() = expected[i];
  }
  ASSERT_TRUE(monitor.step(loss().detach()));
  ASSERT_TRUE(monitor.gradient_norm());
  EXPECT_NEAR(*monitor.gradient_norm(), norm, 1e-5 * norm);
  EXPECT_EQ(monitor.clipped_share(), 1);
  for (std::size_t i = 0; i < clipped.size(); ++i) {
    EXPECT_TRUE(at::allclose(model->parameters()[i].grad(), clipped[i], 1e-4, 1e-9));
  }
}

TEST_F(MonitorTest, RecordsLayersForTheFindings) {
  MonitorOptions options;
  options.statistics_every = 1;
  options.trace_every = 1;
  Monitor monitor(*model, optimizer, std::move(options));
  // Units count as dead after many samples, and a batch here has few.
  for (int i = 0; i < 120; ++i) monitor.train_step([&] { return loss(); });
  const Report report = monitor.report();
  ASSERT_TRUE(report.roles.contains("layer-gradient"));
  EXPECT_THAT(report.roles.at("layer-gradient"), Contains("gradients/0.weight#norm"));
  EXPECT_THAT(report.roles.at("layer-weight"), Contains("weights/3.bias#std"));
  EXPECT_THAT(report.roles.at("layer-update"), Contains("updates/0.weight#ratio"));
  EXPECT_THAT(report.roles.at("layer-activation"), Contains("activations/0 -> 1 -> relu#dead-share"));
  EXPECT_THAT(report.roles.at("learning-rate"), Contains("lr"));
  EXPECT_THAT(report.roles.at("train-loss"), testing::ElementsAre("train/loss"));
  for (const char* id : {"dead-neurons", "updates-too-small", "vanishing-by-depth", "eval-mode-in-training"}) {
    EXPECT_THAT(report.checks_ran, Contains(id));
  }
}

TEST_F(MonitorTest, LooksLaterWhereAnotherMonitorIsLooking) {
  nn::Sequential other{nn::Linear(4, 3)};
  ::torch::optim::SGD theirs(other->parameters(), 0.1);
  Monitor first(*model, optimizer);  // looks at activations from here to the end of its first forward pass
  Monitor second(*other, theirs);
  const auto seen = [&] {
    second.train_step([&] { return at::cross_entropy_loss(other->forward(x), y); });
    return second.report().roles.contains("layer-activation");
  };
  EXPECT_FALSE(seen());
  first.train_step([&] { return loss(); });
  EXPECT_TRUE(seen());
}

TEST_F(MonitorTest, TellsOfFindingsWhileTraining) {
  MonitorOptions options;
  options.diagnose_every = 10;
  std::vector<std::string> told;
  options.on_finding = [&](const Observation& observation) { told.push_back(observation.finding); };
  Monitor monitor(*model, optimizer, std::move(options));
  model->eval();
  for (int i = 0; i < 40; ++i) monitor.train_step([&] { return loss(); });
  EXPECT_EQ(std::count(told.begin(), told.end(), "eval-mode-in-training"), 1);
}

TEST_F(MonitorTest, RefusesAModelWithoutParameters) {
  nn::Sequential empty{nn::ReLU()};
  EXPECT_THAT(refusal([&] { Monitor(*empty, optimizer); }), HasSubstr("no parameters"));
}

TEST_F(MonitorTest, RefusesTheOptimizerOfAnotherModel) {
  nn::Linear other(2, 2);
  ::torch::optim::SGD theirs(other->parameters(), 0.1);
  EXPECT_THAT(refusal([&] { Monitor(*model, theirs); }), HasSubstr("no parameter of this model"));
}

TEST_F(MonitorTest, RefusesALossThatIsNoNumber) {
  Monitor monitor(*model, optimizer);
  EXPECT_THAT(refusal([&] { static_cast<void>(monitor.step(at::ones({3}))); }), HasSubstr("single number"));
}

TEST_F(MonitorTest, RefusesAStepAfterClose) {
  Monitor monitor(*model, optimizer);
  ASSERT_TRUE(monitor.close());
  EXPECT_THAT(refusal([&] { static_cast<void>(monitor.step(at::ones({}))); }), HasSubstr("after close"));
  EXPECT_TRUE(monitor.close());
}

TEST_F(MonitorTest, RefusesAModelThatWasMoved) {
  if (!::torch::cuda::is_available()) GTEST_SKIP() << "a second device is needed to move a model to";
  Monitor monitor(*model, optimizer);
  model->to(at::Device(at::kCUDA));
  EXPECT_THAT(refusal([&] { static_cast<void>(monitor.step(at::ones({}))); }), HasSubstr("another device"));
}

TEST_F(MonitorTest, QuickCheckNamesWhatIsWrongNow) {
  {
    const at::NoGradGuard no_graph;
    model->parameters()[0][0][0] = std::numeric_limits<float>::quiet_NaN();
  }
  ::torch::optim::SGD partial({model->parameters()[0]}, 0.1);
  Monitor monitor(*model, partial);
  model->eval();
  const std::vector<std::string> problems = monitor.quick_check();
  EXPECT_THAT(problems, Contains(HasSubstr("0.weight holds 1 NaN")));
  EXPECT_THAT(problems, Contains(HasSubstr("3.bias is in no group")));
  EXPECT_THAT(problems, Contains(HasSubstr("evaluation mode")));
}

TEST(BatchCheckTest, SeesWhatIsWrongWithABatch) {
  at::Tensor x = at::randn({8, 5});
  const at::Tensor y = at::arange(8).remainder(4);
  EXPECT_TRUE(validate_batch(x, y, {4, 100}).problems.empty());
  EXPECT_EQ(validate_batch(x, y, {3, 100}).invalid_labels, 2U);
  EXPECT_TRUE(validate_batch(x, at::zeros({8}, at::kLong)).constant_label);
  EXPECT_TRUE(validate_batch(x.slice(0, 0, 1).expand({8, 5}), y).identical_samples);
  EXPECT_EQ(validate_batch(x * 1000, y).problems.size(), 1U);
  x[1][2] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(validate_batch(x, y).nonfinite, 1U);
}

TEST(BatchCheckTest, NoticesARepeatedBatch) {
  BatchChecker checker;
  const at::Tensor first = at::randn({8, 5});
  EXPECT_FALSE(checker.check(first).repeated);
  EXPECT_FALSE(checker.check(at::randn({8, 5})).repeated);
  EXPECT_TRUE(checker.check(first.clone()).repeated);
}

TEST(BatchCheckTest, CountsTheBatchesBetweenTwoThatAreTheSame) {
  BatchChecker checker;
  const at::Tensor first = at::randn({8, 5});
  checker.check(first);
  for (int i = 0; i < 4; ++i) checker.pass_over();
  checker.check(at::randn({8, 5}));
  EXPECT_EQ(checker.check(first).repeated_after, 6U);
  EXPECT_EQ(checker.batches(), 7U);
}

TEST_F(MonitorTest, LooksAtTheFirstBatchesAndThenAsTheBudgetAllows) {
  MonitorOptions options;
  options.budget = 1e-12;
  Monitor monitor(*model, optimizer, std::move(options));
  int looked = 0;
  for (int i = 0; i < 100; ++i) {
    looked += monitor.batch(x, y).has_value() ? 1 : 0;
    monitor.train_step([&] { return loss(); });
  }
  EXPECT_EQ(looked, 64);
}

TEST_F(MonitorTest, LooksAtAsManyBatchesAsItIsTold) {
  const auto looks = [&](std::int64_t every) {
    MonitorOptions options;
    options.budget = 1e-12;
    options.batches_every = every;
    Monitor monitor(*model, optimizer, std::move(options));
    int looked = 0;
    for (int i = 0; i < 100; ++i) looked += monitor.batch(x, y).has_value() ? 1 : 0;
    return looked;
  };
  EXPECT_EQ(looks(1), 100);
  EXPECT_EQ(looks(4), 25);
  EXPECT_EQ(looks(-1), 0);
}

TEST(BatchCheckTest, ComparesSplitsBySample) {
  const at::Tensor training = at::randn({50, 3});
  const at::Tensor validation = at::cat({training.slice(0, 10, 15), at::randn({15, 3})});
  EXPECT_DOUBLE_EQ(shared_samples(sample_hashes(training), sample_hashes(validation)), 0.25);
  EXPECT_DOUBLE_EQ(changed_samples(sample_hashes(validation), sample_hashes(validation)), 0);
  EXPECT_DOUBLE_EQ(changed_samples(sample_hashes(validation), sample_hashes(at::randn({20, 3}))), 1);
}

}  // namespace
}  // namespace osler::torch
