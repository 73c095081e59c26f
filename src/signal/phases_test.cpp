// Phases, spikes, swings, floors and valleys are found in curves that have them, and not in those that do not.
#include "signal/phases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "signal/forecast.h"
#include "signal/oscillation.h"
#include "signal/seeded_noise.h"
#include "signal/spikes.h"
#include "signal/valley.h"

namespace osler::signal {
namespace {

Curve curve_from(const std::vector<double>& values) {
  Curve curve;
  curve.step = counting(values.size());
  curve.value = curve.low = curve.high = values;
  curve.count.assign(values.size(), 1);
  curve.variance.assign(values.size(), 0);
  return curve;
}

TEST(Phases, CutACurveWhereItTurns) {
  std::vector<double> values = SeededNoise(1).take(300, 0.02);
  for (std::size_t i = 0; i < 300; ++i) {
    const auto t = static_cast<double>(i);
    values[i] += i < 100 ? 2 - 0.01 * t : i < 200 ? 1 : 1 + 0.02 * (t - 200);
  }
  const std::vector<Phase> phases = phases_of(curve_from(values));
  ASSERT_GE(phases.size(), 2U);
  EXPECT_TRUE(std::any_of(phases.begin(), phases.end(),
                          [](const Phase& phase) { return phase.last <= 110 && phase.motion == Motion::descent; }));
  EXPECT_EQ(phases.back().motion, Motion::rise);
  EXPECT_EQ(phases.front().first, 0U);
  EXPECT_EQ(phases.back().last, 300U);
  for (std::size_t i = 1; i < phases.size(); ++i) EXPECT_EQ(phases[i].first, phases[i - 1].last);
}

TEST(Phases, PureNoiseIsOneFlatPhase) {
  const std::vector<Phase> phases = phases_of(curve_from(SeededNoise(2).take(200)));
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_EQ(phases.front().motion, Motion::flat);
}

TEST(Spikes, AreFoundWithTheirStepAndRecovery) {
  for (const double scale : {1e-4, 1.0, 1e4}) {
    std::vector<double> values = SeededNoise(3).take(200, 0.02 * scale);
    for (double& value : values) value += scale;
    values[70] = 5 * scale;
    values[150] = values[151] = 9 * scale;
    const std::vector<Spike> spikes = spikes_of(curve_from(values));
    ASSERT_EQ(spikes.size(), 2U);
    EXPECT_EQ(spikes[0].step, 70);
    EXPECT_NEAR(spikes[0].peak, 5 * scale, 1e-9 * scale);
    EXPECT_TRUE(spikes[0].recovered);
    EXPECT_EQ(spikes[1].last - spikes[1].first, 2U);
  }
}

TEST(Spikes, NoiseHasNoneAndRegularOnesHaveAPeriod) {
  std::vector<double> values = SeededNoise(4).take(300, 0.1);
  for (double& value : values) value += 1;
  EXPECT_TRUE(spikes_of(curve_from(values)).empty());
  for (std::size_t i = 20; i < 300; i += 40) values[i] = 6;
  const auto period = period_of(spikes_of(curve_from(values)));
  ASSERT_TRUE(period.has_value());
  EXPECT_NEAR(*period, 40, 1e-9);
}

TEST(Oscillation, TellsAZigzagAndASineFromNoise) {
  const std::vector<double> noise = SeededNoise(5).take(200, 0.1);
  const Oscillation calm = oscillation_of(noise);
  EXPECT_LT(std::abs(calm.zigzag_z), 4);
  EXPECT_GT(calm.period_p_value, 1e-3);

  std::vector<double> zigzag = noise;
  std::vector<double> sine = noise;
  for (std::size_t i = 0; i < 200; ++i) {
    zigzag[i] += i % 2 == 0 ? 1 : -1;
    sine[i] += std::sin(2 * std::numbers::pi * static_cast<double>(i) / 10);
  }
  EXPECT_GT(oscillation_of(zigzag).zigzag_z, 6);
  EXPECT_NEAR(oscillation_of(zigzag).amplitude, 1, 0.2);
  EXPECT_LT(oscillation_of(sine).period_p_value, 1e-6);
  EXPECT_NEAR(oscillation_of(sine).period, 10, 0.5);
}

TEST(Forecast, FloorOfAPowerLawLiesInItsInterval) {
  for (const double scale : {1e-3, 1.0, 1e3}) {
    std::vector<double> values = SeededNoise(6).take(200, 0.01 * scale);
    for (std::size_t i = 0; i < 200; ++i) values[i] += scale * (2 + 3 * std::pow(static_cast<double>(i) + 1, -0.5));
    const auto forecast = forecast_of(counting(200), values);
    ASSERT_TRUE(forecast.has_value());
    EXPECT_LE(forecast->floor_low, 2.1 * scale);
    EXPECT_GE(forecast->floor_high, 1.9 * scale);
    EXPECT_NEAR(forecast->at(199) / scale, 2.21, 0.05);
  }
}

TEST(Forecast, OfARisingCurveIsNone) {
  std::vector<double> values(50);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  EXPECT_FALSE(forecast_of(counting(50), values).has_value());
}

TEST(Valley, BottomAndRiseOfACurveThatTurns) {
  std::vector<double> values = SeededNoise(7).take(60, 0.01);
  for (std::size_t i = 0; i < 60; ++i) values[i] += 1 + 0.001 * std::pow(static_cast<double>(i) - 20, 2);
  const Valley valley = valley_of(counting(60), values);
  EXPECT_NEAR(static_cast<double>(valley.bottom), 20, 6);
  EXPECT_NEAR(valley.floor, 1, 0.05);
  EXPECT_NEAR(valley.rise(), 1.5, 0.1);
  EXPECT_TRUE(valley.after.rises(0.01));
}

TEST(Valley, FallingCurveHasNoRise) {
  std::vector<double> values(40);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = -static_cast<double>(i);
  EXPECT_DOUBLE_EQ(valley_of(counting(40), values).rise(), 0);
}

}  // namespace
}  // namespace osler::signal
