// TrainingHistory: from a plain loop to a verdict, to a file and back.
#include "osler/history/training_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "osler/runfile/reader.h"
#include "run_file_samples.h"

namespace osler {
namespace {

using osler::testing::TestFolder;

TrainingHistory history_in(const std::filesystem::path& file = {}) {
  HistoryOptions options;
  options.file = file;
  auto history = TrainingHistory::open(std::move(options));
  EXPECT_TRUE(history);
  return std::move(*history);
}

double healthy_loss(int step) {
  std::mt19937_64 random(static_cast<std::uint64_t>(step));
  return 0.3 + 2.0 / (1 + 0.02 * step) + 0.02 * std::normal_distribution<double>()(random);
}

bool has(const Report& report, const std::string& finding) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const Observation& seen) { return seen.finding == finding; });
}

TEST(TrainingHistory, FindsATrainingHealthyThatIs) {
  TrainingHistory history = history_in();
  for (int step = 0; step < 500; ++step) history.record(step, {healthy_loss(step), 1.0, 0.01, {}, {}, {}});
  EXPECT_NE(history.quick_check()->status, Status::critical);
  const auto report = history.report();
  ASSERT_TRUE(report);
  EXPECT_NE(report->status, Status::critical) << report->headline;
  EXPECT_EQ(report->roles.at("train-loss"), std::vector<std::string>{"train/loss"});
  EXPECT_EQ(report->roles.at("gradient-norm"), std::vector<std::string>{"gradient_norm"});
  EXPECT_EQ(report->roles.at("learning-rate"), std::vector<std::string>{"learning_rate"});
}

TEST(TrainingHistory, SeesALossThatTurnsNonFiniteAtOnce) {
  TrainingHistory history = history_in();
  for (int step = 0; step < 100; ++step) history.record(step, {healthy_loss(step), {}, {}, {}, {}, {}});
  EXPECT_FALSE(history.quick_check()->sick());
  for (int step = 100; step < 110; ++step) history.record(step, {std::nan(""), {}, {}, {}, {}, {}});
  EXPECT_TRUE(history.quick_check()->sick());
  EXPECT_TRUE(has(*history.report(), "loss-nonfinite-later"));
}

TEST(TrainingHistory, SeesDeadAndSaturatedUnitsOfALayer) {
  TrainingHistory history = history_in();
  const std::vector<std::int64_t> sizes = {64, 4};  // samples, units
  std::vector<float> rectified(64 * 4);
  std::vector<float> squashed(64 * 4);
  for (int step = 0; step < 40; ++step) {
    std::mt19937_64 random(static_cast<std::uint64_t>(step));
    std::normal_distribution<float> draw;
    for (std::size_t i = 0; i < rectified.size(); ++i) {
      rectified[i] = i % 4 == 0 ? std::max(0.0F, draw(random)) : 0.0F;  // three of four units never fire
      squashed[i] = i % 4 < 2 ? 0.999F : std::tanh(draw(random));
    }
    history.record(step, {healthy_loss(step), {}, {}, {}, {}, {}});
    const auto view = [&](const std::vector<float>& values) {
      return *stats::TensorView::contiguous(values.data(), stats::DType::f32, sizes);
    };
    history.activation(step, "hidden", "relu", view(rectified));
    history.activation(step, "gate", "tanh", view(squashed));
  }
  const auto report = history.report();
  ASSERT_TRUE(report);
  EXPECT_TRUE(has(*report, "dead-neurons"));
  EXPECT_TRUE(has(*report, "saturated-activations"));
}

TEST(TrainingHistory, MeasuresTensorsWhereTheyLie) {
  TrainingHistory history = history_in();
  const std::vector<float> gradient = {3, 4, 0, 0};
  const std::vector<double> weight = {1, -1};
  history.tensor(1, TensorKind::gradient, "fc1", gradient);
  history.tensor(1, TensorKind::weight, "fc1", weight);
  history.recorder().visit([](const osler::Run& run) {
    EXPECT_EQ(run.find("gradients/fc1#norm")->summary().recent()[0].value, 5);
    EXPECT_EQ(run.find("gradients/fc1#zero-share")->summary().recent()[0].value, 0.5);
    EXPECT_EQ(run.find("weights/fc1#mean")->summary().recent()[0].value, 0);
    EXPECT_EQ(run.histograms().size(), 2U);
  });
}

TEST(TrainingHistory, IsKeptInAFileAndGoesOnFromIt) {
  const TestFolder folder;
  const auto path = folder / "run.osler";
  {
    TrainingHistory history = history_in(path);
    history.config("lr", "0.01");
    for (int step = 0; step < 300; ++step) history.record(step, {healthy_loss(step), {}, {}, {}, {}, {}});
    ASSERT_TRUE(history.report());
    ASSERT_TRUE(history.close());
  }
  {
    auto history = TrainingHistory::load(path);
    ASSERT_TRUE(history);
    for (int step = 250; step < 400; ++step) history->record(step, {healthy_loss(step), {}, {}, {}, {}, {}});
    const auto report = history->report();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->steps.last, 399);
    EXPECT_EQ(report->steps.count, 400U);
  }
  auto reader = RunFileReader::open(path);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->window("train/loss")->size(), 400U);
  EXPECT_EQ(reader->reports()->size(), 2U);
  EXPECT_EQ(reader->configuration()->at("lr"), "0.01");
}

TEST(TrainingHistory, SavesWhatItKeepsInMemory) {
  const TestFolder folder;
  TrainingHistory history = history_in();
  for (int step = 0; step < 20'000; ++step) {
    history.record(step, {step == 7777 ? 1e6 : healthy_loss(step), {}, {}, {}, {}, {}});
  }
  ASSERT_TRUE(history.save(folder / "saved.osler"));
  auto loaded = TrainingHistory::load(folder / "saved.osler");
  ASSERT_TRUE(loaded);
  loaded->recorder().visit([](const osler::Run& run) {
    const Bucket all = *run.find("train/loss")->summary().total();
    EXPECT_EQ(all.max, 1e6);
    EXPECT_EQ(all.max_step, 7777);
    EXPECT_EQ(all.first_step, 0);
    EXPECT_EQ(all.last_step, 19'999);
  });
}

TEST(TrainingHistory, SavesEveryPointOfWhatItRecordsIntoAFile) {
  const TestFolder folder;
  TrainingHistory history = history_in(folder / "run.osler");
  for (int step = 0; step < 20'000; ++step) history.record(step, {healthy_loss(step), {}, {}, {}, {}, {}});
  ASSERT_TRUE(history.save(folder / "copy.osler"));
  EXPECT_EQ(osler::testing::read_all(folder / "copy.osler").at("train/loss").size(), 20'000U);
}

}  // namespace
}  // namespace osler
