// What the step axis of a table is, by the tables people write.
#include "formats/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "recording_sink.h"

namespace osler {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Not;
using testing::RecordingSink;
using ::testing::SizeIs;

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

/// Feeds rows given as full tables, in which kGap is an empty cell.
class Table {
 public:
  explicit Table(std::vector<std::string> names) {
    for (const std::string& name : names) columns_.push_back(rows_.column(name));
  }
  Table& row(const std::vector<double>& values, std::string_view prefix = {}) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isnan(values[i])) cells.push_back({columns_[i], values[i]});
    }
    rows_.row({cells, kNoTime, prefix}, sink_);
    return *this;
  }
  Table& header_again() {
    rows_.new_segment();
    return *this;
  }
  const RecordingSink& read() {
    rows_.finish(sink_);
    return sink_;
  }

 private:
  RowAssembler rows_;
  RecordingSink sink_;
  std::vector<std::uint32_t> columns_;
};

TEST(Rows, ThatComeNewestFirstAreTurnedRound) {
  Table table({"step", "loss"});
  for (int step = 100; step > 0; --step) table.row({static_cast<double>(step), 3.0 - step * 0.01});
  const RecordingSink& read = table.read();
  ASSERT_THAT(read.steps("loss"), SizeIs(100));
  EXPECT_EQ(read.steps("loss").front(), 1);
  EXPECT_EQ(read.steps("loss").back(), 100);
}

TEST(Rows, ThatGoBackAreNotTurnedRound) {
  Table table({"step", "loss"});
  const RecordingSink& read = table.row({30, 1}).row({10, 3}).row({20, 2}).row({30, 1}).read();
  EXPECT_THAT(read.steps("loss"), ElementsAre(30, 10, 20, 30));
}

TEST(Rows, WhoseAxisIsToldAreTakenAsTheyAre) {
  RowAssembler rows;
  RecordingSink sink;
  const std::uint32_t step = rows.column("step");
  const std::uint32_t epoch = rows.column("epoch");
  const std::uint32_t loss = rows.column("loss");
  const std::uint32_t val_loss = rows.column("val_loss");
  rows.tell_axis(step);
  for (int i = 0; i < 4; ++i) {
    const std::vector<Cell> cells = {{step, i == 2 ? 0.0 : i}, {epoch, i * 1.0}, {loss, 1.0}, {val_loss, kGap}};
    rows.row({cells, kNoTime, {}}, sink);
  }
  rows.finish(sink);
  EXPECT_THAT(sink.steps("loss"), ElementsAre(0, 1, 0, 3)) << "no counting within epochs";
  EXPECT_THAT(sink.values("val_loss"), SizeIs(4)) << "a NaN that was written is one";
}

TEST(Rows, WhoseAxisIsToldKeepTheirOtherCounters) {
  RowAssembler rows;
  RecordingSink sink;
  const std::uint32_t step = rows.column("step");
  const std::uint32_t updates = rows.column("train/n_updates");
  rows.tell_axis(step);
  for (int i = 0; i < 5; ++i) {
    const std::vector<Cell> cells = {{step, i * 10.0}, {updates, i * 40.0}};
    rows.row({cells, kNoTime, {}}, sink);
  }
  rows.finish(sink);
  EXPECT_THAT(sink.values("train/n_updates"), ElementsAre(0, 40, 80, 120, 160));
  EXPECT_THAT(sink.steps("train/n_updates"), ElementsAre(0, 10, 20, 30, 40));
}

TEST(Rows, AStepColumnIsTheAxisAndNoSeries) {
  Table table({"step", "loss"});
  const RecordingSink& read = table.row({10, 3.0}).row({20, 2.0}).row({30, 1.0}).read();
  EXPECT_THAT(read.names, ElementsAre("loss"));
  EXPECT_THAT(read.steps("loss"), ElementsAre(10, 20, 30));
}

TEST(Rows, TheOrderIsTheAxisWhereNoColumnCountsSteps) {
  Table table({"loss", "accuracy"});
  EXPECT_THAT(table.row({3, 0.1}).row({2, 0.2}).row({1, 0.3}).read().steps("accuracy"), ElementsAre(0, 1, 2));
}

TEST(Rows, AGlobalStepIsBetterThanAStepWithinTheEpoch) {
  Table table({"epoch", "batch", "trainer/global_step", "loss"});
  for (int i = 0; i < 10; ++i) table.row({std::floor(i / 5.0), i % 5 + 0.0, 100.0 + i, 1.0});
  EXPECT_EQ(table.read().steps("loss").back(), 109);
}

TEST(Rows, AGlobalCounterOfAnyKindIsBetterThanOneThatBeginsAnew) {
  Table table({"episode", "global_episode", "reward"});
  for (int i = 0; i < 10; ++i) table.row({i % 5 + 0.0, i + 0.0, 1.0});
  EXPECT_EQ(table.read().steps("reward").back(), 9);
}

TEST(Rows, LightningWritesTrainingAndValidationOnRowsOfTheirOwn) {
  Table table({"epoch", "step", "train_loss", "val_loss"});
  table.row({0, 2, kGap, 1.5}).row({0, 2, 1.4, kGap}).row({1, 5, kGap, 1.3}).row({1, 5, 1.2, kGap});
  const RecordingSink& read = table.read();
  EXPECT_THAT(read.steps("val_loss"), ElementsAre(2, 5));
  EXPECT_THAT(read.steps("train_loss"), ElementsAre(2, 5));
  EXPECT_THAT(read.values("epoch"), ElementsAre(0, 0, 1, 1));
}

TEST(Rows, TheEpochIsTheAxisWhenThereIsOneRowForEach) {
  Table table({"epoch", "loss", "val_loss"});
  for (int epoch = 1; epoch <= 5; ++epoch) table.row({epoch + 0.0, 1.0 / epoch, 2.0 / epoch});
  EXPECT_THAT(table.read().steps("val_loss"), ElementsAre(1, 2, 3, 4, 5));
}

TEST(Rows, ManyRowsOfOneEpochKeepAllTheirPoints) {
  Table table({"epoch", "loss"});
  for (int i = 0; i < 200; ++i) table.row({std::floor(i / 50.0), 1.0 + i});
  const RecordingSink& read = table.read();
  EXPECT_THAT(read.steps("loss"), SizeIs(200));
  EXPECT_EQ(read.steps("loss").front(), 0);
  EXPECT_EQ(read.steps("loss").back(), 199);
}

TEST(Rows, FractionalEpochsAreNoSteps) {
  Table table({"epoch", "loss"});
  EXPECT_THAT(table.row({0.25, 3}).row({0.5, 2}).row({0.75, 1}).read().steps("loss"), ElementsAre(0, 1, 2));
}

TEST(Rows, ACounterOfMinusOneIsNoAxis) {
  Table table({"step", "epoch", "loss"});
  for (int i = 0; i < 5; ++i) table.row({-1, i + 0.0, 1.0});
  EXPECT_THAT(table.read().steps("loss"), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Rows, ACounterWithinTheEpochGoesOnRisingOverEpochs) {
  Table table({"epoch", "iter", "loss"});
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (int iter = 10; iter <= 50; iter += 10) table.row({epoch + 0.0, iter + 0.0, 1.0});
  }
  EXPECT_THAT(table.read().steps("loss"),
              ElementsAre(10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150));
}

TEST(Rows, ACounterWithinTheEpochMayStartAtZero) {
  Table table({"epoch", "batch", "loss"});
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int batch = 0; batch < 4; ++batch) table.row({epoch + 0.0, batch + 0.0, 1.0});
  }
  EXPECT_THAT(table.read().steps("loss"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Rows, TrainingThatStartsAgainGoesBackToItsFirstSteps) {
  Table table({"epoch", "iter", "loss"});
  for (int launch = 0; launch < 2; ++launch) {
    for (int epoch = 1; epoch <= 2; ++epoch) {
      for (int iter = 1; iter <= 3; ++iter) table.row({epoch + 0.0, iter + 0.0, 1.0});
    }
  }
  EXPECT_THAT(table.read().steps("loss"), ElementsAre(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
}

TEST(Rows, ACounterWithinTheEpochIsKnownEvenWithOneRowPerEpoch) {
  Table table({"epoch", "iter", "loss"});
  for (int epoch = 1; epoch <= 4; ++epoch) table.row({epoch + 0.0, 10, 1}).row({epoch + 0.0, 20, 1});
  table.row({5, 20, 1}).row({6, 20, 1});
  EXPECT_THAT(table.read().steps("loss"), ElementsAre(10, 20, 30, 40, 50, 60, 70, 80, 100, 120));
}

TEST(Rows, EvaluationRowsStandAtTheStepTrainingHasReached) {
  // As mmdetection writes them: the evaluation's own counter counts evaluation batches.
  Table table({"epoch", "iter", "loss", "mAP"});
  for (int epoch = 1; epoch <= 2; ++epoch) {
    for (int iter = 50; iter <= 200; iter += 50) table.row({epoch + 0.0, iter + 0.0, 1.0, kGap}, "train");
    table.row({epoch + 0.0, 17, kGap, 0.5}, "val");
  }
  const RecordingSink& read = table.read();
  EXPECT_THAT(read.steps("train/loss"), ElementsAre(50, 100, 150, 200, 250, 300, 350, 400));
  EXPECT_THAT(read.steps("val/mAP"), ElementsAre(200, 400));
  EXPECT_THAT(read.names, Contains("epoch"));
}

TEST(Rows, ARowWithoutTheAxisStandsWhereTheRowBeforeItStood) {
  Table table({"step", "loss", "test_loss"});
  table.row({1, 3, kGap}).row({2, 2, kGap}).row({3, 1, kGap}).row({kGap, kGap, 1.5});
  EXPECT_THAT(table.read().steps("test_loss"), ElementsAre(3));
}

TEST(Rows, ARepeatedHeaderStartsTheCountAgain) {
  Table table({"loss"});
  table.row({3}).row({2}).row({1}).header_again().row({3}).row({2});
  EXPECT_THAT(table.read().steps("loss"), ElementsAre(0, 1, 2, 0, 1));
}

TEST(Rows, AColumnOfUnixTimesIsTheWallTimeInAnyUnit) {
  Table table({"timestamp", "step", "loss"});
  table.row({1700000000.5, 1, 3}).row({1700000001500, 2, 2});
  const RecordingSink& read = table.read();
  EXPECT_THAT(read.names, ElementsAre("loss"));
  EXPECT_DOUBLE_EQ(read.events[0].wall_time, 1700000000.5);
  EXPECT_DOUBLE_EQ(read.events[1].wall_time, 1700000001.5);
}

TEST(Rows, AColumnCalledTimeThatHoldsDurationsIsASeries) {
  Table table({"time", "step", "loss"});
  const RecordingSink& read = table.row({0.25, 1, 3}).row({0.26, 2, 2}).read();
  EXPECT_THAT(read.values("time"), ElementsAre(0.25, 0.26));
  EXPECT_TRUE(std::isnan(read.events[0].wall_time));
}

TEST(Rows, ABatchSizeIsNotTakenForACounter) {
  Table table({"batch", "epoch", "loss"});
  for (int epoch = 0; epoch < 10; ++epoch) table.row({32, epoch + 0.0, 1.0});
  EXPECT_EQ(table.read().steps("loss").back(), 9);
}

TEST(Rows, EventsComeAsSoonAsTheAxisIsClear) {
  RowAssembler rows;
  RecordingSink sink;
  const std::uint32_t step = rows.column("step");
  const std::uint32_t loss = rows.column("loss");
  for (int i = 0; i < 3; ++i) {
    const std::vector<Cell> cells = {{step, i + 0.0}, {loss, 1.0}};
    rows.row({cells, kNoTime, {}}, sink);
  }
  EXPECT_THAT(sink.events, SizeIs(3));
}

/// What is read of a table of episodes and rewards.
RecordingSink read_episodes(const std::vector<double>& episodes) {
  Table table({"Episode", "Reward"});
  for (const double episode : episodes) table.row({episode, 1.0});
  return table.read();
}

TEST(Rows, AreCountedWhereSeveralWritersShareAFile) {
  std::vector<double> mixed;
  for (int i = 0; i < 20; ++i) mixed.push_back(3 * i);
  for (int i = 0; i < 20; ++i) {
    mixed.push_back(3 * i);
    mixed.push_back(60 + 3 * i);
  }
  const RecordingSink read = read_episodes(mixed);
  ASSERT_THAT(read.steps("Reward"), SizeIs(60)) << "no row is lost";
  for (std::size_t i = 1; i < 60; ++i)
    EXPECT_EQ(read.steps("Reward")[i], read.steps("Reward")[i - 1] + (i < 20 ? 3 : 1));
  ASSERT_THAT(read.marks, SizeIs(1));
  EXPECT_THAT(read.marks[0].text, ::testing::HasSubstr("several writers"));
}

TEST(Rows, BeginAnewWhereACounterFallsAndDoesNotLeapBack) {
  std::vector<double> crashed;
  for (const int begin : {0, 40, 40, 40}) {
    for (int episode = begin; episode <= 60; episode += 5) crashed.push_back(episode);
  }
  EXPECT_THAT(read_episodes(crashed).steps("Reward"), ::testing::ElementsAreArray(crashed));
  const std::vector<double> short_rounds = {10, 20, 30, 20, 30, 20, 30, 20, 30, 40};
  const RecordingSink read = read_episodes(short_rounds);
  EXPECT_THAT(read.steps("Reward"), ::testing::ElementsAreArray(short_rounds));
  EXPECT_THAT(read.marks, SizeIs(0));
}

TEST(Rows, OfEpisodesAreNotPlacedByTheirLengths) {
  const std::vector<double> lengths = {20, 23, 24, 21, 35, 30, 28, 41, 39, 44, 37, 52, 60, 48, 55, 70, 66, 81};
  Table numbered({"episode", "steps", "reward"});
  Table bare({"steps", "reward", "epsilon"});
  Table scored({"steps", "score"});
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    numbered.row({static_cast<double>(i + 1), lengths[i], 1.0});
    bare.row({lengths[i], 1.0, 0.5});
    scored.row({lengths[i], 1.0});
  }
  const RecordingSink& by_episode = numbered.read();
  EXPECT_THAT(by_episode.values("steps"), ::testing::ElementsAreArray(lengths));
  EXPECT_EQ(by_episode.steps("reward").front(), 1);
  EXPECT_EQ(by_episode.steps("reward").back(), 18);
  const RecordingSink& in_order = bare.read();
  EXPECT_THAT(in_order.values("steps"), ::testing::ElementsAreArray(lengths));
  EXPECT_EQ(in_order.steps("reward").back(), 17);
  EXPECT_EQ(scored.read().steps("score").back(), 17);
  EXPECT_THAT(in_order.marks, SizeIs(0));
}

TEST(Rows, OfAnAgentArePlacedByStepsThatRise) {
  Table table({"episode", "steps", "reward"});
  for (int i = 0; i < 30; ++i) table.row({i + 1.0, 200.0 * i, 1.0});
  EXPECT_EQ(table.read().steps("reward").back(), 5800);
}

TEST(Rows, StepsThatBeginAnewInEachEpisodeGoOnRising) {
  Table table({"episode", "step", "reward"});
  for (int episode = 0; episode < 3; ++episode) {
    for (int step = 0; step < 30; ++step) table.row({episode + 0.0, step + 0.0, 1.0});
  }
  EXPECT_EQ(table.read().steps("reward").back(), 89);
}

TEST(Rows, LeaveOutTheZerosOfAValidationThatDidNotTakePlace) {
  Table table({"epoch", "train_loss", "val_loss", "val_accuracy"});
  for (int epoch = 1; epoch <= 10; ++epoch) {
    const bool evaluated = epoch % 5 == 0;
    table.row({epoch + 0.0, 1.0 / epoch, evaluated ? 0.5 : 0.0, evaluated ? 0.8 : 0.0});
  }
  const RecordingSink& read = table.read();
  EXPECT_THAT(read.steps("val_loss"), ElementsAre(5, 10));
  EXPECT_THAT(read.steps("val_accuracy"), ElementsAre(5, 10));
  EXPECT_THAT(read.steps("train_loss"), SizeIs(10));
}

TEST(Rows, KeepTheZerosThatWereMeasured) {
  Table nothing_right({"epoch", "train_loss", "val_loss", "val_accuracy"});
  Table all_zero({"epoch", "train_loss", "val_loss", "val_accuracy"});
  Table one_figure({"epoch", "train_loss", "val_loss"});
  for (int epoch = 1; epoch <= 6; ++epoch) {
    nothing_right.row({epoch + 0.0, 1.0, 0.5, 0.0});
    all_zero.row({epoch + 0.0, 0.0, 0.0, 0.0});
    one_figure.row({epoch + 0.0, 1.0, 0.0});
  }
  EXPECT_THAT(nothing_right.read().values("val_accuracy"), SizeIs(6));
  EXPECT_THAT(all_zero.read().values("val_loss"), SizeIs(6)) << "where training's is 0 as well, something is wrong";
  EXPECT_THAT(one_figure.read().values("val_loss"), SizeIs(6));
}

TEST(Rows, PrefixesAreNotDoubled) {
  Table table({"step", "val/loss", "accuracy"});
  const RecordingSink& read = table.row({1, 0.5, 0.9}, "val").read();
  EXPECT_THAT(read.names, ElementsAre("val/loss", "val/accuracy"));
}

TEST(Rows, PhasesAreKnownByColumnAndWord) {
  EXPECT_TRUE(is_phase_column("Split"));
  EXPECT_FALSE(is_phase_column("loss"));
  EXPECT_TRUE(is_phase("Train"));
  EXPECT_TRUE(is_evaluation_phase("validation"));
  EXPECT_FALSE(is_evaluation_phase("train"));
  EXPECT_FALSE(is_phase("cifar10"));
}

TEST(Rows, AQuarterOfAMillionColumnsIsEnough) {
  RowAssembler rows;
  RecordingSink sink;
  for (std::uint32_t i = 0; i <= RowAssembler::kMostColumns; ++i) rows.column("c" + std::to_string(i));
  const std::vector<Cell> cells = {{rows.column("c0"), 1.0}, {rows.column("beyond"), 2.0}};
  rows.row({cells, kNoTime, {}}, sink);
  rows.finish(sink);
  EXPECT_THAT(sink.names, ElementsAre("c0"));
}

}  // namespace
}  // namespace osler
