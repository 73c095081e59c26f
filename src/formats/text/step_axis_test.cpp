// One axis for counters that restart in each epoch, for restarts, for several processes and for lines without counter.
#include "formats/text/step_axis.h"

#include <gtest/gtest.h>

namespace osler::text {
namespace {

Counters counted(std::int64_t step, std::optional<double> epoch = {}, std::optional<std::int64_t> total = {}) {
  Counters counters;
  counters.step = step;
  counters.total = total;
  counters.epoch = epoch;
  counters.kind = CounterKind::named;
  counters.name = 1;
  return counters;
}

Counters of_epoch(double epoch) {
  Counters counters;
  counters.epoch = epoch;
  return counters;
}

TEST(StepAxis, ContinuesACounterThatStartsAgainInEachEpoch) {
  StepAxis axis;
  EXPECT_EQ(axis.place(counted(0, 1, 600)).step, 0);
  EXPECT_EQ(axis.place(counted(500, 1, 600)).step, 500);
  EXPECT_EQ(axis.place(counted(0, 2, 600)).step, 600);
  EXPECT_EQ(axis.place(counted(0, 4, 600)).step, 1800);
}

TEST(StepAxis, LearnsTheLengthOfAnEpochThatNobodyTells) {
  StepAxis axis;
  EXPECT_EQ(axis.place(counted(100, 1)).step, 100);
  EXPECT_EQ(axis.place(counted(200, 1)).step, 200);
  EXPECT_EQ(axis.place(counted(100, 2)).step, 300);
}

TEST(StepAxis, TakesAnEpochThatIsCountedFromZeroForOneStrideLonger) {
  StepAxis axis;
  for (int step = 0; step < 20; step += 5) EXPECT_EQ(axis.place(counted(step, 0)).step, step);
  for (int step = 0; step < 20; step += 5) EXPECT_EQ(axis.place(counted(step, 1)).step, 20 + step);
}

TEST(StepAxis, NeverRepeatsTheBatchOfAnEpoch) {
  StepAxis axis;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    Counters batch = counted(300, epoch, 940);
    batch.batches = true;
    EXPECT_EQ(axis.place(batch).step, (epoch - 1) * 940 + 300);
  }
}

TEST(StepAxis, TakesACounterThatIsTheSameInEveryEpochForTheLengthOfOne) {
  StepAxis axis;
  EXPECT_EQ(axis.place(counted(264, 1)).step, 264);
  EXPECT_EQ(axis.place(counted(264, 2)).step, 528);
  EXPECT_EQ(axis.place(counted(264, 3)).step, 792);
}

TEST(StepAxis, LeavesACounterOfTheWholeRunAlone) {
  StepAxis axis;
  EXPECT_EQ(axis.place(counted(100, 1)).step, 100);
  EXPECT_EQ(axis.place(counted(200, 2)).step, 200);
  EXPECT_EQ(axis.place(counted(300, 3)).step, 300);
}

TEST(StepAxis, TakesAFallForARestart) {
  StepAxis axis;
  for (int step = 10; step <= 50; step += 10) axis.place(counted(step));
  EXPECT_EQ(axis.generation(), 0U);
  EXPECT_EQ(axis.place(counted(20)).step, 20);
  EXPECT_EQ(axis.place(counted(30)).lane, 0);
  EXPECT_EQ(axis.generation(), 1U);
  EXPECT_EQ(axis.current(), 30);
}

TEST(StepAxis, KeepsTwoProcessesThatWriteAlternatelyApart) {
  StepAxis axis;
  for (int step = 100; step <= 500; step += 100) axis.place(counted(step));
  axis.place(counted(100));  // taken for a restart until the first process goes on
  EXPECT_EQ(axis.place(counted(600)).lane, 0);
  EXPECT_EQ(axis.place(counted(200)).lane, 1);
  EXPECT_EQ(axis.place(counted(700)).lane, 0);
  EXPECT_EQ(axis.place(counted(300)).lane, 1);
}

TEST(StepAxis, CountsEpochsWhereNothingFinerIsCounted) {
  StepAxis axis;
  EXPECT_EQ(axis.place(of_epoch(1)).step, 1);
  EXPECT_EQ(axis.place(of_epoch(2)).step, 2);
  EXPECT_EQ(axis.place(Counters{}).step, 2);
  EXPECT_FALSE(axis.place(Counters{}).own);
}

TEST(StepAxis, PutsALineThatCountsEpochsBesideTheStepsBeforeIt) {
  StepAxis axis;
  axis.place(counted(100));
  const Place place = axis.place(of_epoch(1));
  EXPECT_EQ(place.step, 100);
  EXPECT_EQ(place.grain, Grain::epoch);
}

TEST(StepAxis, CountsLinesWhereAnEpochHasManyOfThem) {
  StepAxis axis;
  Counters line = of_epoch(1);
  line.shape = 7;
  for (int i = 0; i < 3; ++i) axis.place(line);
  const std::int64_t before = axis.current();
  EXPECT_EQ(axis.place(line).step, before + 1);
  EXPECT_EQ(axis.place(line).step, before + 2);
}

TEST(StepAxis, DoesNotTakeBatchesOfAnEvaluationForSteps) {
  StepAxis axis;
  axis.place(counted(700, {}, 1000));
  Counters evaluation = counted(10, {}, 157);
  evaluation.kind = CounterKind::bare;
  evaluation.evaluation = true;
  EXPECT_EQ(axis.place(evaluation).step, 700);
  evaluation.kind = CounterKind::named;
  EXPECT_EQ(axis.place(evaluation).step, 700);
}

TEST(StepAxis, StaysWithinBoundsWhateverIsWritten) {
  StepAxis axis;
  for (const std::int64_t huge : {INT64_MAX / 2, INT64_MIN / 2, std::int64_t{0}, INT64_MAX / 4}) {
    for (int epoch = 0; epoch < 5; ++epoch) axis.place(counted(huge, 1e14 * epoch, INT64_MAX / 2));
  }
  SUCCEED();
}

}  // namespace
}  // namespace osler::text
