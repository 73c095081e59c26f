// A trend is found where there is one, at any scale, and independent or smoothed noise is not mistaken for one.
#include "signal/trend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "signal/seeded_noise.h"

namespace osler::signal {
namespace {

TEST(Trend, SlopeIsThatOfTheLineInSpiteOfOutliers) {
  for (const double scale : {1e-4, 1.0, 1e4}) {
    SeededNoise noise(1);
    std::vector<double> y = noise.take(200, 0.1 * scale);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += scale * (3 - 0.02 * static_cast<double>(i));
    y[50] = 1e12;
    const Trend trend = trend_of(counting(200), y);
    EXPECT_NEAR(trend.slope / scale, -0.02, 0.001);
    EXPECT_TRUE(trend.falls(1e-6));
    EXPECT_NEAR(trend.change / scale, -0.02 * 199, 0.2);
  }
}

TEST(Trend, FalseAlarmsOnNoiseStayNearTheirNominalRate) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    alarms += trend_of(counting(60), SeededNoise(seed).take(60)).p_value < 0.05 ? 1 : 0;
  }
  EXPECT_GT(alarms, 4);   // 1 %: the test is not simply blind
  EXPECT_LT(alarms, 40);  // 10 %
}

TEST(Trend, SmoothedNoiseIsNoTrend) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<double> y = SeededNoise(seed).take(150);
    for (std::size_t i = 1; i < y.size(); ++i) y[i] = 0.7 * y[i - 1] + 0.3 * y[i];
    alarms += trend_of(counting(150), y).p_value < 0.01 ? 1 : 0;
  }
  EXPECT_LT(alarms, 30);  // 15 %: the correction is Hamed and Rao's, not perfect
}

TEST(Trend, TheBendOfAShortLearningCurveIsNoNoise) {
  const std::vector<double> noise = SeededNoise(3).take(24);
  std::vector<double> y(24);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::exp(-static_cast<double>(i) / 8) + 0.02 * noise[i];
  EXPECT_TRUE(trend_of(counting(24), y).falls(1e-4));
}

TEST(Trend, LongCurvesAreGroupedNotCutShort) {
  std::vector<double> y(20'000);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 1e-5 * static_cast<double>(i);
  const Trend trend = trend_of(counting(y.size()), y);
  EXPECT_NEAR(trend.slope, 1e-5, 1e-9);
  EXPECT_DOUBLE_EQ(trend.tau, 1);
}

TEST(Trend, OfConstantOrFewValuesIsNone) {
  EXPECT_DOUBLE_EQ(trend_of(counting(50), std::vector<double>(50, 2.5)).p_value, 1);
  EXPECT_DOUBLE_EQ(trend_of(counting(3), std::vector<double>{1, 2, 3}).p_value, 1);
}

TEST(Trend, CountsTheOrdersOfAHandfulOfValues) {
  // Of the 720 orders of six values one rises throughout and five miss one pair: 2 (1 + 5) / 720.
  EXPECT_NEAR(trend_of(counting(6), std::vector<double>{1, 2, 3, 5, 4, 6}).p_value, 12.0 / 720, 1e-12);
  EXPECT_NEAR(trend_of(counting(5), std::vector<double>{5, 4, 3, 2, 1}).p_value, 2.0 / 120, 1e-12);
  EXPECT_DOUBLE_EQ(trend_of(counting(4), std::vector<double>{2, 4, 1, 3}).p_value, 1);
}

}  // namespace
}  // namespace osler::signal
