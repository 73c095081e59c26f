// Specification of axes: which scale suits which values, and which ticks a person would choose.
#include "figures/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace osler::figure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Lines curve(const std::vector<double>& values) {
  Line line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    line.buckets.push_back(bucket_of({static_cast<std::int64_t>(i), kNoTime, values[i]}));
  }
  Lines lines;
  lines.lines.push_back(line);
  return lines;
}

ValueAxis axis(const std::vector<double>& values, Lines::Scale scale = Lines::Scale::automatic,
               const std::vector<Level>& levels = {}) {
  return {*spread_of(curve(values)), scale, levels};
}

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> words;
  for (const Tick& tick : ticks) {
    if (!tick.label.empty()) words.push_back(tick.label);
  }
  return words;
}

TEST(ValueAxis, IsLinearWithinTwoDecadesAndLogarithmicBeyond) {
  EXPECT_EQ(axis({1, 2, 50}).kind(), ValueAxis::Kind::linear);
  EXPECT_EQ(axis({1, 2, 500}).kind(), ValueAxis::Kind::log);
  EXPECT_EQ(axis({-1, 2, 500}).kind(), ValueAxis::Kind::signed_log);
  EXPECT_EQ(axis({-1, 2, 50}).kind(), ValueAxis::Kind::linear);
}

TEST(ValueAxis, FollowsTheWish) {
  EXPECT_EQ(axis({1, 2, 3}, Lines::Scale::log).kind(), ValueAxis::Kind::log);
  EXPECT_EQ(axis({1, 2, 500}, Lines::Scale::linear).kind(), ValueAxis::Kind::linear);
}

TEST(ValueAxis, KeepsEveryValueInside) {
  for (const std::vector<double>& values :
       {std::vector<double>{0.3, 2.5, 1}, {1e-9, 1, 1e6}, {-1e5, 1, 3}, {5, 5, 5}, {0, 0, 0}, {0, 1e-8, 1}}) {
    const ValueAxis scale = axis(values);
    for (const double value : values) {
      EXPECT_GE(scale.share(value), 0) << value;
      EXPECT_LE(scale.share(value), 1) << value;
    }
  }
}

TEST(ValueAxis, SetsZeroApartOnALogarithmicScale) {
  const ValueAxis scale = axis({0, 1e-6, 1});
  EXPECT_LT(scale.share(0), scale.zero_gap());
  EXPECT_GT(scale.share(1e-6), scale.zero_gap());
  EXPECT_EQ(labels(scale.ticks(6)).front(), "0");
}

TEST(ValueAxis, ReachesToALevelThatMustShow) {
  const std::vector<Level> far = {{1e-7, "vanishing", true}};
  EXPECT_TRUE(axis({0.5, 1}, Lines::Scale::automatic, far).shows(far[0]));
  const std::vector<Level> optional = {{1e-7, "vanishing", false}};
  EXPECT_FALSE(axis({0.5, 1}, Lines::Scale::log, optional).shows(optional[0]));
  EXPECT_TRUE(axis({3e-7, 1}, Lines::Scale::log, optional).shows(optional[0]));
}

TEST(ValueAxis, LabelsRoundValues) {
  EXPECT_THAT(labels(axis({0.1, 2.1}).ticks(5)), ElementsAre("0", "0.5", "1.0", "1.5", "2.0"));
  EXPECT_THAT(labels(axis({1e-6, 3e-6}).ticks(4)), ElementsAre("1e-6", "2e-6", "3e-6"));
  EXPECT_THAT(labels(axis({1e-4, 3e-4}).ticks(4)), ElementsAre("0.0001", "0.0002", "0.0003"));
  EXPECT_THAT(labels(axis({0.01, 0.01, 50}).ticks(5)), ElementsAre("0.01", "0.1", "1", "10"));
}

TEST(ValueAxis, WritesFarDecadesAsPowers) {
  EXPECT_EQ(decade_label(-7, false), "10⁻⁷");
  EXPECT_EQ(decade_label(12, false), "10¹²");
  EXPECT_EQ(decade_label(-2, true), "0.01");
  EXPECT_EQ(decade_label(3, true), "1,000");
}

TEST(ValueAxis, HasNothingToShowWithoutFiniteValues) {
  EXPECT_FALSE(spread_of(curve({std::nan(""), HUGE_VAL})).has_value());
}

TEST(StepTicks, AreWholeAndRound) {
  EXPECT_THAT(labels(step_ticks(0, 3, 8)), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(labels(step_ticks(0, 2000, 4)), ElementsAre("0", "500", "1,000", "1,500", "2,000"));
  EXPECT_THAT(labels(step_ticks(0, 2'000'000, 4)), ElementsAre("0", "0.5M", "1.0M", "1.5M", "2.0M"));
  EXPECT_THAT(step_ticks(7, 7, 4), SizeIs(1));
}

TEST(StepTicks, SurviveTheWidestRange) {
  const auto ticks = step_ticks(INT64_MIN, INT64_MAX, 6);
  EXPECT_LE(ticks.size(), 8U);
  for (const Tick& tick : ticks) EXPECT_TRUE(tick.share >= 0 && tick.share <= 1);
}

TEST(RoundValues, GiveUpWhereLabelsWouldAllReadTheSame) {
  EXPECT_THAT(round_values(1e12, 1e12 + 1, 5), IsEmpty());
  EXPECT_THAT(round_values(1, 1, 5), IsEmpty());
}

}  // namespace
}  // namespace osler::figure
