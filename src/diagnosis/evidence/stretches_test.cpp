// Stretches: levels, their errors, and what is better than what.
#include "diagnosis/evidence/stretches.h"

#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

Reading reading_of(const Values& values) {
  osler::Run run;
  record(run, "loss", values);
  return read_series(*run.find("loss"), false);
}

TEST(Stretches, CutACurveIntoPartsThatCoverIt) {
  const Stretches parts = stretches_of(reading_of(curve(100, [](double x) { return 5 - x; })), 12);
  ASSERT_EQ(parts.all.size(), 12U);
  EXPECT_EQ(parts.first().first, 0U);
  EXPECT_EQ(parts.last().last, 100U);
  for (std::size_t i = 1; i < parts.all.size(); ++i) EXPECT_EQ(parts.all[i].first, parts.all[i - 1].last);
}

TEST(Stretches, HoldAtLeastThreePoints) {
  const Stretches parts = stretches_of(reading_of(curve(10, [](double x) { return x; })));
  ASSERT_EQ(parts.all.size(), 3U);
  for (const Stretch& part : parts.all) EXPECT_GE(part.last - part.first, 3U);
}

TEST(Stretches, ThereAreNoneOfFiveValues) {
  EXPECT_TRUE(stretches_of(reading_of({1, 2, 3, 4, 5})).all.empty());
}

TEST(Stretches, KnowTheirBestAndWorst) {
  const Stretches parts = stretches_of(reading_of(curve(120, [](double x) { return std::abs(x - 0.7); })), 12);
  EXPECT_EQ(parts.worst(), 0U);
  EXPECT_EQ(parts.best(), 8U);
}

TEST(Stretches, TellTheScatterOfSingleValues) {
  Noise noise(3);
  const Stretches parts = stretches_of(reading_of(curve(240, [&](double x) { return 100 * x + 2 * noise.normal(); })));
  // Each stretch also climbs by 8, which has a deviation of 2.4.
  EXPECT_NEAR(parts.scatter, std::hypot(2.0, 2.4), 0.3);
}

TEST(Stretches, OneWildValueDoesNotOutweighAllOthers) {
  Values values(300, 1.0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.01 * static_cast<double>(i % 10);
  values[20] = 1e9;
  EXPECT_LT(stretches_of(reading_of(values)).first().level, 2);
}

TEST(Stretches, ARareRewardShowsInTheLevel) {
  Values values(300, 0.0);
  for (std::size_t i = 250; i < values.size(); i += 4) values[i] = 1;
  const Stretches parts = stretches_of(reading_of(values));
  EXPECT_EQ(parts.first().level, 0);
  EXPECT_GT(parts.last().level, 0.1);
}

TEST(Stretches, AreSurerTogether) {
  Noise noise(5);
  const Stretches parts = stretches_of(reading_of(curve(240, [&](double) { return 3 + noise.normal(); })));
  const Stretch all = parts.joined(0);
  EXPECT_NEAR(all.level, 3, 0.2);
  EXPECT_LT(all.error, parts.first().error);
  EXPECT_EQ(all.first, 0U);
  EXPECT_EQ(all.last, 240U);
}

TEST(Stretches, CountProgressInStandardErrors) {
  const Stretch high{0, 10, 5.0, 0.3};
  const Stretch low{10, 20, 3.0, 0.4};
  EXPECT_DOUBLE_EQ(errors_gained(high, low), 4.0);
  EXPECT_DOUBLE_EQ(errors_gained(low, high), -4.0);
}

TEST(Stretches, WithoutAnyScatterAnyProgressIsSure) {
  const Stretch high{0, 10, 5.0, 0};
  const Stretch low{10, 20, 4.999, 0};
  EXPECT_GT(errors_gained(high, low), 1e9);
  EXPECT_LT(errors_gained(low, high), -1e9);
  EXPECT_EQ(errors_gained(high, high), 0);
}

}  // namespace
}  // namespace osler::sample
