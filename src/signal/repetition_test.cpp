// Noise that comes back is found with its period; fresh noise, waves, zigzags, ramps and spikes are no repetition.
#include "signal/repetition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "signal/seeded_noise.h"

namespace osler::signal {
namespace {

/// The same noise again and again, under a falling trend and a little fresh noise.
std::vector<double> repeated(std::size_t period, std::size_t count, double fresh, std::uint64_t seed) {
  SeededNoise noise(seed);
  const std::vector<double> order = noise.take(period);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(5 * std::exp(-static_cast<double>(i) / 100) + order[i % period] + fresh * noise.next());
  }
  return values;
}

TEST(Repetition, IsFoundWithItsPeriodAtAnyScale) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    std::vector<double> values = repeated(25, 300, 0.2, 1);
    for (double& value : values) value *= scale;
    const auto found = repetition_of(values);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->period, 25U);
    EXPECT_GT(found->likeness, 0.8);
  }
}

TEST(Repetition, FreshNoiseIsNone) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_FALSE(repetition_of(SeededNoise(seed).take(200))) << seed;
    EXPECT_FALSE(repetition_of(SeededNoise(seed).take(40))) << seed;
  }
}

TEST(Repetition, AWaveOrAZigzagIsNone) {
  std::vector<double> wave;
  std::vector<double> zigzag;
  for (std::size_t i = 0; i < 300; ++i) {
    wave.push_back(std::sin(static_cast<double>(i) / 4));
    zigzag.push_back(i % 2 == 0 ? 1 : 0);
  }
  EXPECT_FALSE(repetition_of(wave));
  EXPECT_FALSE(repetition_of(zigzag));
}

TEST(Repetition, RegularSpikesOverNoiseAreNone) {
  std::vector<double> values = SeededNoise(4).take(400, 0.1);
  for (std::size_t i = 0; i < values.size(); i += 40) values[i] += 10;
  EXPECT_FALSE(repetition_of(values));
}

TEST(Repetition, TooFewPeriodsOrConstantValuesAreNone) {
  EXPECT_FALSE(repetition_of(repeated(25, 70, 0, 1)));
  EXPECT_FALSE(repetition_of(std::vector<double>(100, 1.0)));
  EXPECT_FALSE(repetition_of({}));
}

}  // namespace
}  // namespace osler::signal
