// Noise is measured around the smoothed curve, whatever its slope, scale, outliers or rounding.
#include "signal/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "signal/robust.h"
#include "signal/seeded_noise.h"

namespace osler::signal {
namespace {

TEST(Noise, IsThatOfTheScatterNotOfTheTrend) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    SeededNoise noise(1);
    std::vector<double> values = noise.take(400, scale);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += 50 * scale * std::exp(-0.01 * static_cast<double>(i));
    EXPECT_NEAR(difference_noise(values) / scale, 1, 0.2);
    EXPECT_NEAR(noise_of(values).sigma / scale, 1, 0.25);
  }
}

TEST(Noise, IgnoresOutliers) {
  SeededNoise noise(2);
  std::vector<double> values = noise.take(300);
  for (std::size_t i = 0; i < values.size(); i += 40) values[i] = 1e9;
  EXPECT_LT(noise_of(values).sigma, 2);
}

TEST(Noise, OfRoundedValuesIsNotZero) {
  std::vector<double> values(100, 0.98);
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = 0.99;
  EXPECT_GT(difference_noise(values), 0.001);
  EXPECT_LT(difference_noise(values), 0.01);
}

TEST(Noise, KnowsARunningMeanByItsAutocorrelation) {
  SeededNoise noise(3);
  const std::vector<double> raw = noise.take(500);
  std::vector<double> smoothed(raw.size());
  double mean = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) smoothed[i] = mean = 0.8 * mean + 0.2 * raw[i];
  EXPECT_LT(std::abs(noise_of(raw).lag1), 0.2);
  EXPECT_GT(noise_of(smoothed).lag1, 0.4);
  EXPECT_LT(effective_count(500, 0.8), 100);
  EXPECT_DOUBLE_EQ(effective_count(500, 0), 500);
}

TEST(Noise, OfTooFewValuesIsZero) {
  EXPECT_EQ(difference_noise(std::vector<double>{1, 2}), 0);
  EXPECT_EQ(noise_of(std::vector<double>{}).sigma, 0);
}

TEST(Robust, QuantilesAndScale) {
  const std::vector<double> values = {5, 1, 4, 2, 3};
  EXPECT_DOUBLE_EQ(median(values), 3);
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.375), 2.5);
  EXPECT_NEAR(mad_scale(SeededNoise(4).take(2000, 3)), 3, 0.2);
  EXPECT_TRUE(std::isnan(median(std::vector<double>{})));
}

TEST(Robust, RunningMedianStepsOverASpikeAndKeepsASteepStart) {
  std::vector<double> values = {100, 50, 25, 12, 6, 6, 900, 6, 6, 6};
  const std::vector<double> smoothed = running_median(values, 1);
  EXPECT_DOUBLE_EQ(smoothed[0], 100);
  EXPECT_DOUBLE_EQ(smoothed[6], 6);
  EXPECT_DOUBLE_EQ(*std::max_element(smoothed.begin() + 4, smoothed.end()), 6);
}

TEST(Robust, LocalLineFollowsAStraightLineExactly) {
  std::vector<double> values(30);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 7 - 0.25 * static_cast<double>(i);
  const std::vector<double> smooth = local_line(values, 4);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(smooth[i], values[i], 1e-9);
}

}  // namespace
}  // namespace osler::signal
