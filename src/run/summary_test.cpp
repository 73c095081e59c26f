// A summary against the exact computation over all points, at every size and under many limits.
#include "osler/run/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "osler/run/event.h"

namespace osler {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The bucket over all points, computed the plain way: two passes in long double.
Bucket exactly(std::span<const Point> points) {
  Bucket exact;
  exact.first_step = points.front().step;
  exact.last_step = points.back().step;
  exact.first_time = exact.last_time = kNoTime;
  long double sum = 0;
  for (const Point& point : points) {
    if (!std::isnan(point.wall_time)) {
      if (std::isnan(exact.first_time)) exact.first_time = point.wall_time;
      exact.last_time = point.wall_time;
    }
    if (!std::isfinite(point.value)) {
      if (exact.nonfinite++ == 0) exact.first_nonfinite_step = point.step;
      continue;
    }
    if (exact.count++ == 0) {
      exact.first = exact.min = exact.max = point.value;
      exact.min_step = exact.max_step = point.step;
    } else {
      const double difference = point.value - exact.last;
      exact.squared_differences += difference * difference;
    }
    exact.last = point.value;
    if (point.value < exact.min) exact.min = point.value, exact.min_step = point.step;
    if (point.value > exact.max) exact.max = point.value, exact.max_step = point.step;
    sum += point.value;
  }
  if (exact.count == 0) return exact;
  const long double mean = sum / static_cast<long double>(exact.count);
  long double m2 = 0;
  for (const Point& point : points) {
    if (std::isfinite(point.value)) m2 += (point.value - mean) * (point.value - mean);
  }
  exact.mean = static_cast<double>(mean);
  exact.m2 = static_cast<double>(m2);
  return exact;
}

void expect_same_time(double actual, double expected) {
  EXPECT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected))) << actual << " vs " << expected;
}

void expect_agrees(const Bucket& actual, const Bucket& exact) {
  EXPECT_EQ(actual.first_step, exact.first_step);
  EXPECT_EQ(actual.last_step, exact.last_step);
  expect_same_time(actual.first_time, exact.first_time);
  expect_same_time(actual.last_time, exact.last_time);
  EXPECT_EQ(actual.count, exact.count);
  EXPECT_EQ(actual.nonfinite, exact.nonfinite);
  if (exact.nonfinite > 0) {
    EXPECT_EQ(actual.first_nonfinite_step, exact.first_nonfinite_step);
  }
  if (exact.count == 0) return;
  EXPECT_EQ(actual.first, exact.first);
  EXPECT_EQ(actual.last, exact.last);
  EXPECT_EQ(actual.min, exact.min);
  EXPECT_EQ(actual.min_step, exact.min_step);
  EXPECT_EQ(actual.max, exact.max);
  EXPECT_EQ(actual.max_step, exact.max_step);
  const double scale = std::max(std::abs(exact.min), std::abs(exact.max));
  EXPECT_NEAR(actual.mean, exact.mean, 1e-13 * scale);
  EXPECT_NEAR(actual.m2, exact.m2, 1e-11 * exact.m2 + 1e-22 * scale * scale);
  EXPECT_NEAR(actual.squared_differences, exact.squared_differences, 1e-11 * exact.squared_differences);
}

/// A noisy descent from `level`, with holes in the steps and, now and then, a value that is not finite.
std::vector<Point> curve(std::size_t count, double level, double share_nonfinite, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.05 * std::abs(level));
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Point> points;
  std::int64_t step = -5;
  for (std::size_t i = 0; i < count; ++i) {
    step += 1 + static_cast<std::int64_t>(uniform(random) * 3);
    double value = level / std::sqrt(1.0 + static_cast<double>(i)) + noise(random);
    if (uniform(random) < share_nonfinite) value = uniform(random) < 0.5 ? kNan : -kInfinity;
    points.push_back({step, uniform(random) < 0.5 ? kNoTime : 1e9 + static_cast<double>(i), value});
  }
  return points;
}

Summary summarise(std::span<const Point> points, const SummaryLimits& limits) {
  Summary summary;
  for (const Point& point : points) summary.append(point, limits);
  return summary;
}

TEST(Bucket, OfOnePointIsThatPoint) {
  const Bucket bucket = bucket_of({7, 1e9, 2.5});
  EXPECT_EQ(bucket.points(), 1U);
  EXPECT_EQ(bucket.mean, 2.5);
  EXPECT_EQ(bucket.variance(), 0);
  EXPECT_EQ(bucket.min_step, 7);
}

TEST(Bucket, CountsAValueThatIsNotFiniteApart) {
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    const Bucket bucket = bucket_of({7, kNoTime, value});
    EXPECT_EQ(bucket.count, 0U);
    EXPECT_EQ(bucket.nonfinite, 1U);
    EXPECT_EQ(bucket.first_nonfinite_step, 7);
    EXPECT_EQ(bucket.points(), 1U);
  }
}

TEST(Bucket, MergesToWhatDirectComputationGivesWhereverItIsCut) {
  for (const double level : {1e4, 1.0, 1e-4, -3.0}) {
    const auto points = curve(64, level, 0.2, 11);
    for (std::size_t cut = 1; cut < points.size(); ++cut) {
      SCOPED_TRACE(testing::Message() << "level " << level << ", cut at " << cut);
      const auto all = std::span(points);
      expect_agrees(merge(exactly(all.first(cut)), exactly(all.subspan(cut))), exactly(points));
    }
  }
}

TEST(Bucket, MergesStretchesWithoutAnyFiniteValue) {
  const std::vector<Point> points = {{1, kNoTime, kNan}, {2, kNoTime, 3}, {3, kNoTime, kNan}, {4, kNoTime, 5}};
  const auto all = std::span(points);
  for (std::size_t cut = 1; cut < points.size(); ++cut) {
    expect_agrees(merge(exactly(all.first(cut)), exactly(all.subspan(cut))), exactly(points));
  }
  const Bucket nothing = merge(bucket_of(points[0]), bucket_of(points[2]));
  EXPECT_EQ(nothing.count, 0U);
  EXPECT_EQ(nothing.nonfinite, 2U);
  EXPECT_EQ(nothing.first_nonfinite_step, 1);
}

TEST(Bucket, HasAMeanEvenWhereTheDifferenceOverflows) {
  const Bucket merged = merge(bucket_of({1, kNoTime, -1.5e308}), bucket_of({2, kNoTime, 1.5e308}));
  EXPECT_EQ(merged.mean, 0);
  EXPECT_EQ(merged.m2, kInfinity);
}

TEST(Bucket, KeepsTheVarianceOfASmallRippleOnALargeLevel) {
  // Running sums of squares would give a variance of zero, or below, here.
  std::vector<Point> points;
  for (int i = 0; i < 10'000; ++i) points.push_back({i, kNoTime, 1e9 + (i % 2)});
  const Bucket total = *summarise(points, {.buckets = 16, .recent = 4}).total();
  EXPECT_NEAR(total.variance(), 0.25, 1e-4);
}

TEST(Summary, IsEmptyAtFirst) {
  const Summary summary;
  EXPECT_TRUE(summary.empty());
  EXPECT_FALSE(summary.total().has_value());
  EXPECT_TRUE(summary.buckets().empty());
  EXPECT_TRUE(summary.recent().empty());
}

constexpr std::size_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100, 1000, 4097, 100'000};

class SummaryUnderLimits : public testing::TestWithParam<SummaryLimits> {};

TEST_P(SummaryUnderLimits, AgreesWithTheExactComputation) {
  for (const std::size_t count : kSizes) {
    for (const double share_nonfinite : {0.0, 0.05}) {
      SCOPED_TRACE(testing::Message() << count << " points");
      const auto points = curve(count, 2.0, share_nonfinite, static_cast<std::uint32_t>(count));
      const Summary summary = summarise(points, GetParam());
      EXPECT_EQ(summary.points(), count);
      EXPECT_EQ(summary.last_step(), points.back().step);
      expect_agrees(*summary.total(), exactly(points));
    }
  }
}

TEST_P(SummaryUnderLimits, IsMadeOfNeighbouringBucketsOfEqualCount) {
  for (const std::size_t count : kSizes) {
    SCOPED_TRACE(testing::Message() << count << " points");
    const auto points = curve(count, 2.0, 0.05, 3);
    const auto buckets = summarise(points, GetParam()).buckets();
    ASSERT_LE(buckets.size(), std::max<std::size_t>(GetParam().buckets, 3));
    std::size_t start = 0;
    for (const Bucket& bucket : buckets) {
      ASSERT_LE(start + bucket.points(), points.size());
      expect_agrees(bucket, exactly(std::span(points).subspan(start, bucket.points())));
      start += bucket.points();
      if (start < points.size()) {
        EXPECT_EQ(bucket.points(), buckets.front().points());
      }
    }
    EXPECT_EQ(start, points.size());
  }
}

TEST_P(SummaryUnderLimits, KeepsTheNewestPointsExactly) {
  for (const std::size_t count : kSizes) {
    SCOPED_TRACE(testing::Message() << count << " points");
    const auto points = curve(count, 2.0, 0.0, 4);
    const auto recent = summarise(points, GetParam()).recent();
    ASSERT_EQ(recent.size(), std::min(count, GetParam().recent + 1));
    for (std::size_t i = 0; i < recent.size(); ++i) {
      const Point& expected = points[points.size() - recent.size() + i];
      EXPECT_EQ(recent[i].step, expected.step);
      EXPECT_EQ(recent[i].value, expected.value);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Limits, SummaryUnderLimits,
                         testing::Values(SummaryLimits{2, 0}, SummaryLimits{3, 1}, SummaryLimits{7, 3},
                                         SummaryLimits{64, 16}, SummaryLimits{}),
                         [](const auto& info) { return std::to_string(info.param.buckets) + "_buckets"; });

TEST(Summary, ReplacesTheNewestPoint) {
  const SummaryLimits limits{4, 2};
  auto points = curve(100, 1.0, 0.0, 5);
  Summary summary = summarise(points, limits);
  points.back().value = 42;
  summary.replace_last(points.back());
  expect_agrees(*summary.total(), exactly(points));
  EXPECT_EQ(summary.recent().back().value, 42);
  EXPECT_EQ(summary.points(), 100U);
}

TEST(Summary, RewindsExactlyWithinTheWindow) {
  const SummaryLimits limits{8, 100};
  const auto points = curve(300, 1.0, 0.05, 6);
  const Summary full = summarise(points, limits);
  // A bucket has at most 64 points: the window holds the whole of the last one for any of these cuts.
  for (std::size_t kept = points.size() - 36; kept <= points.size(); ++kept) {
    Summary summary = full;
    summary.rewind(points[kept - 1].step + 1);
    expect_agrees(*summary.total(), exactly(std::span(points).first(kept)));
    EXPECT_EQ(summary.points(), kept);
    EXPECT_EQ(summary.recent().back().step, points[kept - 1].step);
  }
}

TEST(Summary, GoesOnExactlyAfterARewindWithinTheWindow) {
  const SummaryLimits limits{1024, 512};
  const auto points = curve(400, 1.0, 0.05, 7);
  for (std::size_t kept = 0; kept <= points.size(); kept += 20) {
    Summary summary = summarise(points, limits);
    const std::int64_t from = kept == 0 ? points.front().step : points[kept - 1].step + 1;
    summary.rewind(from);
    std::vector<Point> later(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(kept));
    for (std::int64_t i = 0; i < 30; ++i) {
      later.push_back({from + i, kNoTime, static_cast<double>(i)});
      summary.append(later.back(), limits);
    }
    expect_agrees(*summary.total(), exactly(later));
    EXPECT_EQ(summary.points(), later.size());
  }
}

TEST(Summary, LetsTheNewestPointBeReplacedAfterARewind) {
  const SummaryLimits limits{64, 32};
  auto points = curve(200, 1.0, 0.0, 8);
  Summary summary = summarise(points, limits);
  summary.rewind(points[190].step);
  points.resize(190);
  points.back().value = -7;
  summary.replace_last(points.back());
  expect_agrees(*summary.total(), exactly(points));
}

TEST(Summary, RewindsBeyondTheWindowToTheNearestBucket) {
  const SummaryLimits limits{16, 4};
  const auto points = curve(1000, 1.0, 0.0, 9);
  Summary summary = summarise(points, limits);
  const std::int64_t step = points[500].step;
  summary.rewind(step);
  EXPECT_LT(summary.last_step(), step);
  const Bucket total = *summary.total();
  const std::uint64_t widest = summary.buckets().front().points();
  EXPECT_GE(total.count, 500U);
  EXPECT_LT(total.count, 500U + widest);
  summary.replace_last({summary.last_step(), kNoTime, 1e6});
  EXPECT_EQ(summary.points(), total.count) << "a point inside a bucket cannot be replaced";
}

TEST(Summary, ForgetsANonFiniteStretchThatARewindTakesBack) {
  const SummaryLimits limits{3, 0};
  Summary summary;
  for (std::int64_t step = 0; step < 1000; ++step) summary.append({step, kNoTime, step < 990 ? 1.0 : kNan}, limits);
  ASSERT_EQ(summary.total()->nonfinite, 10U);
  summary.rewind(980);
  EXPECT_EQ(summary.total()->nonfinite, 0U);
  EXPECT_LT(summary.last_step(), 980);
}

TEST(Summary, RewindsToNothing) {
  Summary summary = summarise(curve(500, 1.0, 0.0, 10), {8, 4});
  summary.rewind(std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(summary.empty());
  EXPECT_TRUE(summary.buckets().empty());
  summary.append({1, kNoTime, 3}, {8, 4});
  EXPECT_EQ(summary.total()->mean, 3);
}

TEST(Summary, IsUntouchedByARewindToItsFuture) {
  const auto points = curve(500, 1.0, 0.0, 10);
  Summary summary = summarise(points, {8, 4});
  summary.rewind(points.back().step + 1);
  expect_agrees(*summary.total(), exactly(points));
}

TEST(Summary, FitsLowerLimitsWithoutLosingCount) {
  const auto points = curve(10'000, 1.0, 0.01, 12);
  Summary summary = summarise(points, {});
  summary.fit({32, 8});
  EXPECT_LE(summary.buckets().size(), 32U);
  EXPECT_EQ(summary.recent().size(), 9U);
  expect_agrees(*summary.total(), exactly(points));
}

TEST(Summary, FollowsLimitsThatChangeWhileItGrows) {
  const auto points = curve(20'000, 1.0, 0.01, 13);
  std::mt19937 random(14);
  Summary summary;
  SummaryLimits limits;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % 500 == 0) limits = {3 + random() % 300, random() % 100};
    summary.append(points[i], limits);
  }
  EXPECT_LE(summary.buckets().size(), limits.buckets);
  EXPECT_LE(summary.recent().size(), limits.recent + 1);
  EXPECT_EQ(summary.recent().back().step, points.back().step);
  expect_agrees(*summary.total(), exactly(points));
}

}  // namespace
}  // namespace osler
