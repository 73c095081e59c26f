// What a person at a terminal is told of single steps.
#include "monitor/step_tally.h"

#include <gtest/gtest.h>

#include <cmath>

namespace osler::monitor {
namespace {

TEST(StepTally, TellsALineEverySoManySteps) {
  StepTally tally(10);
  for (int i = 0; i <= 20; ++i) {
    tally.step(i, 2);
    EXPECT_EQ(tally.take_line().has_value(), i % 10 == 0) << i;
    EXPECT_FALSE(tally.take_line()) << "it was said already";
  }
  StepTally silent;
  silent.step(0, 2);
  EXPECT_FALSE(silent.take_line());
}

TEST(StepTally, StepsThatComeTogetherLoseNoLine) {
  StepTally tally(10);
  tally.step(0, 2);
  ASSERT_TRUE(tally.take_line());
  for (int i = 1; i <= 12; ++i) tally.step(i, 2);
  EXPECT_EQ(*tally.take_line(), "step 12  loss 2  trend +0");
}

TEST(StepTally, TheLineSaysWhichWayItGoesAndWhetherItWasClipped) {
  StepTally tally(3);
  for (int i = 0; i < 4; ++i) {
    tally.step(i, 1.0 - 0.1 * i);
    tally.norm(i == 3 ? 5 : 0.5);
    tally.clipping(i == 3);
    tally.rate(0.01);
  }
  EXPECT_EQ(*tally.take_line(), "step 3  loss 0.7  trend -0.2  norm 5 [clipped]  clipped 25 %  lr 0.01");
}

TEST(StepTally, TheLineLeavesOutWhatWasNotTold) {
  StepTally tally(1);
  tally.step(0, 2.5);
  EXPECT_EQ(*tally.take_line(), "step 0  loss 2.5");
  tally.norm(3);
  tally.step(1, 2.25);
  EXPECT_EQ(*tally.take_line(), "step 1  loss 2.25") << "the norm is that of the step before";
}

TEST(StepTally, ALossThatIsNotFiniteIsSaidAndSpoilsNothing) {
  StepTally tally(1);
  int step = 0;
  for (const double loss : {4.0, 2.0, std::nan(""), 2.0, 0.0}) tally.step(step++, loss);
  EXPECT_EQ(*tally.take_line(), "step 4  loss 0  trend -2");
  tally.step(step, std::nan(""));
  EXPECT_EQ(*tally.take_line(), "step 5  loss nan  trend -2");
  EXPECT_DOUBLE_EQ(*tally.end_epoch(), 2);
}

TEST(StepTally, TheTrendForgetsWhatLiesBehindTheWindow) {
  StepTally tally(1, 4);
  for (const double loss : {100.0, 3.0, 3.0, 1.0, 1.0}) tally.step(0, loss);
  EXPECT_EQ(*tally.take_line(), "step 0  loss 1  trend -2");
}

TEST(StepTally, EachEpochHasAMeanOfItsOwn) {
  StepTally tally;
  EXPECT_FALSE(tally.end_epoch());
  for (const double loss : {3.0, 1.0}) tally.step(0, loss);
  EXPECT_DOUBLE_EQ(*tally.end_epoch(), 2);
  EXPECT_FALSE(tally.end_epoch());
  tally.step(2, 0.5);
  EXPECT_DOUBLE_EQ(*tally.end_epoch(), 0.5);
}

TEST(StepTally, StepsThatWereLeftOutAreNoClippedOnes) {
  StepTally tally;
  EXPECT_EQ(tally.clipped_share(), 0);
  for (const bool clipped : {false, true, false, false}) {
    tally.step(0, 1);
    tally.clipping(clipped);
  }
  tally.step(4, std::nan(""));
  EXPECT_DOUBLE_EQ(tally.clipped_share(), 0.25);
}

}  // namespace
}  // namespace osler::monitor
