// What is measured on a GPU lands later and is recorded under the step at which it was taken. The GPU is played by the
// host: an engine whose answers come when they are let through.
#include "monitor/gpu_ledger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "monitor/activation_ledger.h"
#include "monitor/step_watch.h"
#include "osler/run/run.h"

namespace osler::monitor {
namespace {

/// Does the work on the host at once, like a device whose stream is in order, and tells of it later.
class SlowEngine final : public stats::GpuEngine {
 public:
  using stats::GpuEngine::submit;
  Result<void> submit(stats::Batch& batch) override { return submit(batch, nullptr); }
  Result<void> submit(stats::Batch& batch, void* /*stream*/) override {
    if (capturing) return Error{ErrorCode::unsupported, "a CUDA graph is being captured: nothing was measured", ""};
    if (elsewhere) return Error{ErrorCode::invalid_argument, "a tensor of the batch is not on GPU 0", ""};
    if (const auto done = host_->submit(batch); !done) return done;
    host_->wait(batch);
    return {};
  }
  bool done(const stats::Batch& batch) const override { return host_->done(batch); }
  void wait(stats::Batch& batch) override { host_->wait(batch); }
  Result<bool> poll(stats::Batch& /*batch*/) override {
    if (lost) return Error{ErrorCode::internal, "the GPU failed: device lost (CUDA error 999)", ""};
    if (let_through == 0) return false;
    --let_through;
    return true;
  }
  Result<std::shared_ptr<void>> allocate(std::size_t bytes) override {
    ++allocations;
    return std::shared_ptr<void>(std::calloc(1, bytes), &std::free);
  }
  double seconds(const stats::Batch& /*batch*/) const override { return 0.25; }
  stats::GpuMemory memory() const override { return {}; }
  bool compiled() const override { return false; }

  int let_through = 0;
  int allocations = 0;
  bool capturing = false;
  bool elsewhere = false;  // the model has been moved to the host
  bool lost = false;

 private:
  std::unique_ptr<stats::Engine> host_ = stats::make_cpu_engine(0);
};

/// One parameter that a test changes by hand.
class OneParameter final : public TensorSource {
 public:
  std::optional<stats::TensorView> gradient(std::size_t /*number*/) override { return stats::TensorView::of(grads); }
  bool has_gradient(std::size_t /*number*/) override { return true; }
  std::optional<stats::TensorView> weight(std::size_t /*number*/) override { return stats::TensorView::of(weights); }

  std::vector<float> grads = std::vector<float>(4, 0.5F);
  std::vector<float> weights = std::vector<float>(4, 1.0F);
};

class GpuLedgerTest : public testing::Test {
 protected:
  std::vector<LateLook> collect() { return ledger.collect(recorder, parameters).value(); }
  /// The points of a series by step.
  std::map<std::int64_t, double> points(const std::string& name) {
    std::map<std::int64_t, double> found;
    recorder.visit([&](const osler::Run& run) {
      const Series* const series = run.find(name);
      if (series == nullptr) return;
      for (const Point& point : series->summary().recent()) found[point.step] = point.value;
    });
    return found;
  }

  std::unique_ptr<SlowEngine> made = std::make_unique<SlowEngine>();
  SlowEngine& engine = *made;
  GpuLedger ledger{std::move(made), 1};
  std::vector<ParameterInfo> parameters = {{"head.weight", {4}, true, true}};
  Recorder recorder = Recorder::open({}, {}).value();
  OneParameter source;
};

TEST_F(GpuLedgerTest, ASampleIsRecordedUnderTheStepAtWhichItWasTaken) {
  ASSERT_TRUE(ledger.ask(source, 7, true, nullptr).value());
  EXPECT_TRUE(collect().empty()) << "nothing has landed";
  source.grads.assign(4, 3.0F);  // the next step's
  ASSERT_TRUE(ledger.ask(source, 8, true, nullptr).value());
  engine.let_through = 1;
  const auto first = collect();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].step, 7);
  EXPECT_DOUBLE_EQ(first[0].look.norm, 1.0);
  EXPECT_EQ(first[0].seconds, 0.25) << "which the budget is told";
  engine.let_through = 1;
  const auto second = collect();
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].step, 8);
  EXPECT_DOUBLE_EQ(second[0].look.norm, 6.0);
}

TEST_F(GpuLedgerTest, TheUpdateIsThatOfTheStepBetweenTwoLooks) {
  ASSERT_TRUE(ledger.ask(source, 3, true, nullptr).value());
  source.weights.assign(4, 1.5F);
  EXPECT_TRUE(ledger.remembers(4));
  ASSERT_TRUE(ledger.ask(source, 4, false, nullptr).value());
  source.weights.assign(4, 9.0F);
  EXPECT_FALSE(ledger.remembers(6));
  ASSERT_TRUE(ledger.ask(source, 6, true, nullptr).value());
  engine.let_through = 3;
  ASSERT_EQ(collect().size(), 3U);
  const auto ratios = points(tensor_name(TensorKind::update, "head.weight") + "#ratio");
  ASSERT_EQ(ratios.size(), 1U) << "what lies between 4 and 6 is no single update";
  EXPECT_NEAR(ratios.at(3), 0.5, 1e-6);
  EXPECT_EQ(engine.allocations, 1);
}

TEST_F(GpuLedgerTest, ABadGradientIsToldWithItsStep) {
  source.grads[2] = std::nanf("");
  ASSERT_TRUE(ledger.ask(source, 11, true, nullptr).value());
  engine.let_through = 1;
  const auto landed = collect();
  ASSERT_EQ(landed.size(), 1U);
  EXPECT_FALSE(landed[0].look.finite);
  EXPECT_EQ(landed[0].look.first_bad, "head.weight");
  EXPECT_EQ(landed[0].step, 11);
}

TEST_F(GpuLedgerTest, SamplesArePassedOverWhileAGraphIsCapturedOrTooManyAreUnderWay) {
  engine.capturing = true;
  EXPECT_FALSE(ledger.ask(source, 1, true, nullptr).value());
  engine.capturing = false;
  for (const std::int64_t step : {2, 3, 4}) EXPECT_TRUE(ledger.ask(source, step, true, nullptr).value());
  EXPECT_FALSE(ledger.ask(source, 5, true, nullptr).value());
  engine.let_through = 3;
  EXPECT_EQ(collect().size(), 3U);
  EXPECT_TRUE(ledger.ask(source, 6, true, nullptr).value());
}

TEST_F(GpuLedgerTest, AModelThatHasLeftTheDeviceIsAnErrorAndNotPassedOver) {
  engine.elsewhere = true;
  const auto asked = ledger.ask(source, 1, true, nullptr);
  ASSERT_FALSE(asked);
  EXPECT_NE(asked.error().message.find("not on GPU 0"), std::string::npos);
}

TEST_F(GpuLedgerTest, ALostDeviceIsAnErrorAndNoNumber) {
  ASSERT_TRUE(ledger.ask(source, 1, true, nullptr).value());
  engine.lost = true;
  const auto landed = ledger.collect(recorder, parameters);
  ASSERT_FALSE(landed);
  EXPECT_NE(landed.error().message.find("device lost"), std::string::npos);
  EXPECT_TRUE(points("grad_norm").empty());
}

TEST(StepWatchOnGpu, WhatTheDeviceTookIsSpentFromTheBudget) {
  auto made = std::make_unique<SlowEngine>();
  SlowEngine& engine = *made;
  StepWatch watch({}, Recorder::open({}, {}).value(), {{"head.weight", {4}, true, true}});
  watch.use_gpu(std::move(made));
  OneParameter source;
  for (int step = 0; step < 4; ++step) {
    if (step == 3) engine.let_through = 1;  // one of the first steps, which are looked at in full
    watch.arrive();
    watch.traced(0, 0);
    ASSERT_TRUE(watch.look_later(source, nullptr));
    EXPECT_EQ(watch.early_seconds() > 0.2, step == 3) << step;
    watch.leave();
  }
}

class LateActivations : public testing::Test {
 protected:
  LateActivations() { ledger.use_gpu(engine); }
  bool forward(float value) {
    const std::vector<float> output = {value, 0, value, 0};
    const std::vector<std::int64_t> sizes = {2, 2};
    const auto view = stats::TensorView::contiguous(output.data(), stats::DType::f32, sizes).value();
    return ledger.measure_later("body.0", "relu", view, nullptr);
  }
  void pass(std::int64_t step, float value) {
    forward(value);
    ledger.record(recorder, step);
  }
  std::map<std::int64_t, double> means() {
    std::map<std::int64_t, double> found;
    recorder.visit([&](const osler::Run& run) {
      const Series* const series = run.find(tensor_name(TensorKind::activation, "body.0") + "#mean");
      if (series == nullptr) return;
      for (const Point& point : series->summary().recent()) found[point.step] = point.value;
    });
    return found;
  }

  SlowEngine engine;
  ActivationLedger ledger;
  Recorder recorder = Recorder::open({}, {}).value();
};

TEST_F(LateActivations, AreRecordedUnderTheStepOfTheirPass) {
  pass(4, 1.0F);
  EXPECT_EQ(ledger.collect(recorder).value(), 0) << "nothing has landed";
  EXPECT_TRUE(means().empty());
  pass(9, 3.0F);
  engine.let_through = 1;
  EXPECT_EQ(ledger.collect(recorder).value(), 0.25);
  EXPECT_EQ(means(), (std::map<std::int64_t, double>{{4, 0.5}}));
  engine.let_through = 1;
  ASSERT_TRUE(ledger.collect(recorder));
  EXPECT_EQ(means(), (std::map<std::int64_t, double>{{4, 0.5}, {9, 1.5}}));
}

TEST_F(LateActivations, ArePassedOverWhereTooManyAreUnderWayOrAGraphIsCaptured) {
  engine.capturing = true;
  pass(1, 1.0F);
  engine.capturing = false;
  for (const std::int64_t step : {2, 3, 4}) pass(step, 2.0F);
  engine.let_through = 9;
  ASSERT_TRUE(ledger.collect(recorder));
  EXPECT_EQ(means(), (std::map<std::int64_t, double>{{2, 1.0}, {3, 1.0}}));
}

TEST_F(LateActivations, OfManyForwardPassesInAStepTheFirstIsMeasured) {
  EXPECT_TRUE(forward(1.0F));
  for (int again = 0; again < 60; ++again) EXPECT_FALSE(forward(3.0F)) << "gradients are accumulated";
  ledger.record(recorder, 5);
  engine.let_through = 1;
  ASSERT_TRUE(ledger.collect(recorder));
  EXPECT_EQ(means(), (std::map<std::int64_t, double>{{5, 0.5}}));
}

TEST_F(LateActivations, OfALostDeviceThereAreNone) {
  pass(1, 1.0F);
  engine.lost = true;
  const auto told = ledger.collect(recorder);
  ASSERT_FALSE(told);
  EXPECT_NE(told.error().message.find("device lost"), std::string::npos);
  EXPECT_TRUE(means().empty());
}

}  // namespace
}  // namespace osler::monitor
