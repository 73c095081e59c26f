// Batches and activations of no framework.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "monitor/activation_ledger.h"
#include "monitor/batch_ledger.h"
#include "monitor/finite.h"

namespace osler::monitor {
namespace {

Recorder in_memory() {
  auto recorder = Recorder::open({}, {});
  EXPECT_TRUE(recorder);
  return std::move(*recorder);
}

BatchView batch_of(const std::vector<float>& inputs, std::int64_t samples, const std::vector<double>& labels = {}) {
  BatchView view;
  view.values = stats::TensorView::of(inputs);
  view.bytes = std::as_bytes(std::span(inputs));
  view.samples = samples;
  view.labels = labels;
  view.class_labels = !labels.empty();
  return view;
}

double newest(Recorder& recorder, const std::string& name) {
  double value = std::nan("");
  recorder.visit([&](const Run& run) {
    if (const Series* series = run.find(name)) value = series->summary().recent().back().value;
  });
  return value;
}

TEST(BatchLedger, NoticesABatchThatCameBefore) {
  Recorder recorder = in_memory();
  BatchLedger ledger({}, 0, 0.01);
  const std::vector<float> one = {1, 2, 3, 4};
  const std::vector<float> other = {5, 6, 7, 8};
  ASSERT_TRUE(ledger.due());
  EXPECT_FALSE(ledger.look(batch_of(one, 2), 0, recorder).repeated);
  ASSERT_TRUE(ledger.due());
  EXPECT_FALSE(ledger.look(batch_of(other, 2), 1, recorder).repeated);
  ASSERT_TRUE(ledger.due());
  const BatchFacts again = ledger.look(batch_of(one, 2), 2, recorder);
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.repeated_after, 2U);
  EXPECT_EQ(newest(recorder, "osler/batch/repeated"), 1);
}

TEST(BatchLedger, CountsLabelsButNotThoseThatAreIgnored) {
  Recorder recorder = in_memory();
  BatchLedger ledger(3, 0, 0.01);
  const std::vector<float> inputs = {1, 2, 3, 4, 5, 6};
  const std::vector<double> labels = {0, 0, -100, 3, -1, 2};
  ASSERT_TRUE(ledger.due());
  const BatchFacts facts = ledger.look(batch_of(inputs, 6, labels), 0, recorder);
  EXPECT_EQ(facts.labels, 5U);
  EXPECT_EQ(facts.invalid_labels, 2U);  // 3 is beyond the classes, -1 below
  EXPECT_DOUBLE_EQ(facts.largest_class_share, 2.0 / 3);
}

TEST(BatchLedger, TellsOfValuesThatAreNotFiniteOrAllTheSame) {
  Recorder recorder = in_memory();
  BatchLedger ledger({}, 0, 0.01);
  const std::vector<float> inputs = {std::nanf(""), 1, std::nanf(""), 1};
  ASSERT_TRUE(ledger.due());
  const BatchFacts facts = ledger.look(batch_of(inputs, 2), 0, recorder);
  EXPECT_EQ(facts.nonfinite, 2U);
  EXPECT_TRUE(facts.identical_samples);
  EXPECT_EQ(facts.problems.size(), 2U);
}

TEST(BatchLedger, OfAValidationTellsTheWorstBatchAndNothingThatDependsOnItsOrder) {
  Recorder recorder = in_memory();
  BatchLedger ledger(2, 0, 0, BatchLedger::Of::validation);
  const std::vector<float> sound = {1, 2, 3, 4};
  const std::vector<float> broken = {1, std::nanf(""), 3, 4};
  const std::vector<double> labels = {1, 1, 1, -1};
  const std::vector<double> valid = {1, 1, 1, 1};
  for (const bool spoilt : {false, true, false}) {
    ASSERT_TRUE(ledger.due());
    const BatchFacts facts = ledger.look(batch_of(spoilt ? broken : sound, 4, spoilt ? labels : valid), 7, recorder);
    EXPECT_FALSE(facts.repeated);
    EXPECT_FALSE(facts.constant_label);
  }
  EXPECT_EQ(newest(recorder, "osler/validation-batch/nonfinite-share"), 0.25);
  EXPECT_EQ(newest(recorder, "osler/validation-batch/invalid-labels-share"), 0.25);
  EXPECT_TRUE(std::isnan(newest(recorder, "osler/batch/repeated")));
}

TEST(ActivationLedger, TellsDeadUnitsAfterAWholeWindow) {
  Recorder recorder = in_memory();
  ActivationLedger ledger;
  std::vector<float> outputs(64 * 2, 0.0F);
  for (std::size_t sample = 0; sample < 64; ++sample) outputs[2 * sample] = 1;  // the second unit is silent
  const std::array<std::int64_t, 2> sizes = {64, 2};
  const auto view = stats::TensorView::contiguous(outputs.data(), stats::DType::f32, sizes);
  ASSERT_TRUE(view);
  for (int step = 0; step < 8; ++step) {
    EXPECT_TRUE(std::isnan(newest(recorder, "activations/fc -> relu#dead-share")));
    ledger.measure("fc -> relu", "relu", *view);
    ledger.record(recorder, step);
  }
  EXPECT_EQ(newest(recorder, "activations/fc -> relu#dead-share"), 0.5);
  EXPECT_EQ(newest(recorder, "activations/fc -> relu#zero-share"), 0.5);
}

TEST(ActivationLedger, OneNumberHasNoSpread) {
  Recorder recorder = in_memory();
  ActivationLedger ledger;
  const std::vector<float> outputs = {1, -1, 0, 0.5F};
  const std::vector<float> single = {3};
  ledger.measure("head", "linear", stats::TensorView::of(outputs));
  ledger.measure("head", "linear", stats::TensorView::of(single));  // the value at one point, as of a boundary
  ledger.record(recorder, 0);
  EXPECT_GT(newest(recorder, "activations/head#std"), 0.5);
}

TEST(ActivationLedger, TellsSaturationOfThoseThatSaturate) {
  Recorder recorder = in_memory();
  ActivationLedger ledger;
  const std::vector<float> outputs = {1, -1, 0, 0.5F};
  ledger.measure("fc -> tanh", "tanh", stats::TensorView::of(outputs));
  ledger.measure("fc -> gelu", "gelu", stats::TensorView::of(outputs));
  ledger.record(recorder, 0);
  EXPECT_EQ(newest(recorder, "activations/fc -> tanh#saturated-share"), 0.5);
  EXPECT_TRUE(std::isnan(newest(recorder, "activations/fc -> gelu#saturated-share")));
}

TEST(AllFinite, SeesNanAndInfinity) {
  std::vector<float> numbers = {1, -2, 0};
  EXPECT_TRUE(all_finite(stats::TensorView::of(numbers)));
  numbers[1] = INFINITY;
  EXPECT_FALSE(all_finite(stats::TensorView::of(numbers)));
  const std::vector<double> wide = {1, std::nan("")};
  EXPECT_FALSE(all_finite(stats::TensorView::of(wide)));
}

TEST(BatchLedger, AllOfTheDataAtOnceIsNoBatchThatComesAgain) {
  Recorder recorder = in_memory();
  const auto repeated = [&](std::int64_t samples, bool kept) {
    BatchLedger ledger(std::nullopt, 1, 1);
    const std::vector<std::byte> bytes(static_cast<std::size_t>(samples), std::byte{1});
    BatchView view;
    view.bytes = bytes;
    view.samples = samples;
    view.kept = kept;
    static_cast<void>(ledger.due());
    ledger.look(view, 0, recorder);
    static_cast<void>(ledger.due());
    return ledger.look(view, 1, recorder).repeated;
  };
  EXPECT_FALSE(repeated(200, true));
  EXPECT_TRUE(repeated(200, false));  // as a loader that is stuck gives it
  EXPECT_TRUE(repeated(32, true));
}

}  // namespace
}  // namespace osler::monitor
