// What counts as worse, and what only as no better.
#include "diagnosis/lost_ground.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace osler {
namespace {

/// Where a series of these values stands; noise is the same in every call.
Ground ground(int points, const std::function<double(int, double)>& value, bool higher_is_better = false) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  osler::Run run;
  for (int step = 0; step < points; ++step) {
    run.add(Event{run.series("x"), step, kNoTime, value(step, normal(random))});
  }
  return ground_of(*run.find("x"), higher_is_better);
}

bool lost(int points, const std::function<double(int, double)>& value, bool higher_is_better = false) {
  return ground(points, value, higher_is_better) != Ground::kept;
}

TEST(LostGround, IsNotWhatStandsStill) {
  for (const int points : {10, 30, 60, 200, 1000, 5000}) {
    EXPECT_FALSE(lost(points, [](int, double) { return 0.7; })) << points;
    EXPECT_FALSE(lost(points, [](int, double noise) { return 2.3 + 0.05 * noise; })) << points;
    EXPECT_FALSE(lost(points, [points](int step, double) { return 2 * step < points ? 2.30 : 2.31; })) << points;
    EXPECT_FALSE(lost(
        points, [](int, double) { return 0.0; }, true))
        << points;
  }
}

TEST(LostGround, IsNotWhatFallsOrSettles) {
  EXPECT_FALSE(lost(300, [](int step, double noise) { return 0.2 + 2 * std::exp(-step / 40.0) + 0.02 * noise; }));
  EXPECT_FALSE(lost(
      300, [](int step, double noise) { return -90 - 100 * std::exp(-step / 40.0) + noise; }, true));
}

TEST(LostGround, IsNotASpikeThatPassed) {
  EXPECT_FALSE(lost(300, [](int step, double noise) {
    return (step > 200 && step < 210 ? 9 : 0.2 + 2 * std::exp(-step / 40.0)) + 0.02 * noise;
  }));
}

TEST(LostGround, IsNotALossThatClimbsWhileItsQueueFills) {
  EXPECT_FALSE(lost(200, [](int step, double noise) { return 7.4 - 0.8 * std::exp(-step / 40.0) + 0.02 * noise; }));
}

TEST(LostGround, IsALossThatRunsAway) {
  for (const int points : {30, 100, 3000}) {
    EXPECT_TRUE(lost(points,
                     [points](int step, double noise) {
                       return step < std::max(3, points / 100) ? 2.3 : 50 * std::exp(0.8 * noise);
                     }))
        << "from the start, " << points;
    EXPECT_TRUE(lost(points,
                     [points](int step, double noise) {
                       return (3 * step < points ? 2 * std::exp(-step / 8.0) + 0.05 : 40) * std::exp(0.1 * noise);
                     }))
        << "after a good start, " << points;
  }
}

TEST(LostGround, IsAGainThatWasGivenBack) {
  const auto given_back = [](int step, double noise) {
    return (step < 200 ? 0.2 + 2 * std::exp(-step / 40.0) : 1.9) * std::exp(0.02 * noise);
  };
  EXPECT_TRUE(lost(300, given_back)) << "though it is not above its start";
  EXPECT_TRUE(lost(
      300, [](int step, double noise) { return (step < 200 ? step : 3) + noise; }, true));
}

TEST(LostGround, TellsALossThatHadLearnedFromOneThatWasLowestAtItsStart) {
  EXPECT_EQ(ground(200, [](int step, double noise) { return 9.4 - 3 * std::exp(-step / 15.0) + 0.05 * noise; }),
            Ground::above_start);
  EXPECT_EQ(ground(200, [](int step, double noise) { return (step < 3 ? 2.3 : 5) * std::exp(0.1 * noise); }),
            Ground::above_start);
  const auto lost_at_once = [](int step, double noise) {
    return (step < 12 ? 2 * std::exp(-step / 4.0) : 4) * std::exp(0.1 * noise);
  };
  EXPECT_EQ(ground(200, lost_at_once), Ground::gain_lost) << "though its best stretch is a twentieth of the run";
}

}  // namespace
}  // namespace osler
