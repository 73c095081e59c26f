// How a series orders what arrives: duplicates, stragglers, restarts, and random orders against a plain model.
#include "osler/run/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>

#include "osler/run/event.h"

namespace osler {
namespace {

using testing::ElementsAre;

const SummaryLimits kRoomy{4096, 4096};

std::vector<std::int64_t> steps_of(const Series& series) {
  std::vector<std::int64_t> steps;
  for (const Point& point : series.summary().recent()) steps.push_back(point.step);
  return steps;
}

/// A series that is offered points of the given steps, each with its arrival number as value.
class Offered {
 public:
  explicit Offered(std::initializer_list<std::int64_t> steps) {
    for (const std::int64_t step : steps) offer(step);
  }

  Arrival offer(std::int64_t step) {
    ++arrival_;
    return series.add({step, kNoTime, static_cast<double>(arrival_)}, arrival_, kRoomy);
  }

  Series series{"loss"};

 private:
  std::uint64_t arrival_ = 0;
};

TEST(Series, AppendsRisingSteps) {
  const Offered offered({1, 2, 5, 100});
  EXPECT_THAT(steps_of(offered.series), ElementsAre(1, 2, 5, 100));
  EXPECT_EQ(offered.series.out_of_order(), 0U);
}

TEST(Series, LetsTheLaterValueOfAStepWin) {
  Offered offered({1, 2});
  EXPECT_EQ(offered.offer(2), Arrival::replaced);
  EXPECT_THAT(steps_of(offered.series), ElementsAre(1, 2));
  EXPECT_EQ(offered.series.summary().recent().back().value, 3);
}

TEST(Series, LeavesOutAStraggler) {
  Offered offered({1, 2, 3, 4, 5});
  EXPECT_EQ(offered.offer(3), Arrival::held);
  EXPECT_EQ(offered.offer(6), Arrival::appended);
  EXPECT_THAT(steps_of(offered.series), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(offered.series.summary().recent()[2].value, 3) << "the straggler's value is not taken";
  EXPECT_EQ(offered.series.out_of_order(), 1U);
}

TEST(Series, CallsThreeLatePointsARestart) {
  Offered offered({1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(offered.offer(4), Arrival::held);
  EXPECT_EQ(offered.offer(5), Arrival::held);
  EXPECT_EQ(offered.offer(6), Arrival::restarted);
  EXPECT_THAT(steps_of(offered.series), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(offered.series.summary().recent()[3].value, 8) << "the later segment wins";
  EXPECT_EQ(offered.series.newest_restart().step, 4);
  EXPECT_EQ(offered.series.newest_restart().arrival, 8U);
  EXPECT_EQ(offered.series.newest_restart().kept_before, 3);
  EXPECT_EQ(offered.series.out_of_order(), 0U);
}

TEST(Series, StartsAgainFromNothing) {
  Offered offered({10, 20, 30, 40});
  offered.offer(10);
  offered.offer(20);
  EXPECT_EQ(offered.offer(30), Arrival::restarted);
  EXPECT_THAT(steps_of(offered.series), ElementsAre(10, 20, 30));
  EXPECT_EQ(offered.offer(40), Arrival::appended);
}

TEST(Series, SeesARestartWhoseStepsAreWrittenTwice) {
  Offered offered({1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (const std::int64_t step : {4, 4, 5, 5}) EXPECT_EQ(offered.offer(step), Arrival::held);
  EXPECT_EQ(offered.offer(6), Arrival::restarted);
  EXPECT_EQ(offered.offer(6), Arrival::replaced);
  EXPECT_THAT(steps_of(offered.series), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Series, SeesARestartThatReachesTheOldEnd) {
  Offered offered({1, 2, 3, 4, 5});
  offered.offer(3);
  offered.offer(4);
  EXPECT_EQ(offered.offer(5), Arrival::restarted);
  EXPECT_THAT(steps_of(offered.series), ElementsAre(1, 2, 3, 4, 5));
}

TEST(Series, TakesStepsThatFallAgainAndAgainForStragglers) {
  Offered offered({1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (const std::int64_t step : {8, 7, 6, 5}) EXPECT_EQ(offered.offer(step), Arrival::held);
  EXPECT_EQ(offered.series.out_of_order(), 4U);
  EXPECT_EQ(offered.series.summary().last_step(), 9);
}

TEST(Series, FollowsTheRestartOfAnother) {
  Offered offered({10, 20, 30, 40});
  offered.series.follow({.step = 25, .arrival = 6, .last_before = 5, .first_of_series = 1}, kRoomy);
  EXPECT_THAT(steps_of(offered.series), ElementsAre(10, 20));
}

TEST(Series, CommitsWhatItHeldWhenItFollows) {
  Offered offered({10, 20, 30, 40});
  offered.offer(20);  // arrival 5
  offered.series.follow({.step = 18, .arrival = 5, .last_before = 4, .first_of_series = 1}, kRoomy);
  EXPECT_THAT(steps_of(offered.series), ElementsAre(10, 20));
  EXPECT_EQ(offered.series.summary().recent().back().value, 5);
}

TEST(Series, DropsAnOldStragglerWhenItFollows) {
  Offered offered({10, 20, 30, 40});
  offered.offer(20);  // arrival 5, long before the restart
  offered.series.follow({.step = 35, .arrival = 90, .last_before = 80, .first_of_series = 1}, kRoomy);
  EXPECT_THAT(steps_of(offered.series), ElementsAre(10, 20, 30));
  EXPECT_EQ(offered.series.summary().recent()[1].value, 2);
  EXPECT_EQ(offered.series.out_of_order(), 1U);
}

TEST(Series, StaysAsItIsWhenTheOtherBeganAfterItsEnd) {
  Offered offered({10, 20, 30, 40});
  offered.series.follow({.step = 25, .arrival = 90, .last_before = 80, .first_of_series = 50}, kRoomy);
  EXPECT_THAT(steps_of(offered.series), ElementsAre(10, 20, 30, 40));
}

/// What a series should hold, told as plainly as possible: all points in a list.
class Model {
 public:
  void add(const Point& point) {
    if (points_.empty() || point.step > points_.back().step) {
      held_.clear();
      points_.push_back(point);
    } else if (!held_.empty() && point.step == held_.back().step) {
      held_.back() = point;
    } else if (point.step == points_.back().step && (held_.empty() || point.step < held_.back().step)) {
      points_.back() = point;
    } else {
      if (!held_.empty() && point.step < held_.back().step) held_.clear();
      held_.push_back(point);
      if (held_.size() == Series::kRestartPoints) {
        std::erase_if(points_, [&](const Point& old) { return old.step >= held_.front().step; });
        points_.insert(points_.end(), held_.begin(), held_.end());
        held_.clear();
      }
    }
  }

  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
  std::vector<Point> held_;
};

/// Steps as bad logs have them: mostly rising, sometimes repeated, late, or started again from further back.
std::vector<std::int64_t> messy_steps(std::mt19937& random, std::size_t count) {
  std::vector<std::int64_t> steps;
  std::int64_t step = 0;
  while (steps.size() < count) {
    const auto chance = random() % 100;
    if (chance < 5) {
      step = std::max<std::int64_t>(0, step - static_cast<std::int64_t>(random() % 60));
    } else if (chance < 10) {
      steps.push_back(step - static_cast<std::int64_t>(random() % 10));
    } else if (chance > 20) {
      step += 1 + static_cast<std::int64_t>(random() % 3);
    }
    steps.push_back(step);
  }
  return steps;
}

TEST(Series, HoldsWhatThePlainModelHoldsForAnyOrder) {
  std::mt19937 random(20);
  for (int round = 0; round < 300; ++round) {
    Series series("loss");
    Model model;
    std::uint64_t arrival = 0;
    for (const std::int64_t step : messy_steps(random, 300)) {
      const Point point{step, kNoTime, static_cast<double>(++arrival)};
      series.add(point, arrival, kRoomy);
      model.add(point);
    }
    const auto held = series.summary().recent();
    ASSERT_EQ(held.size(), model.points().size()) << "round " << round;
    for (std::size_t i = 0; i < held.size(); ++i) {
      ASSERT_EQ(held[i].step, model.points()[i].step) << "round " << round << ", point " << i;
      ASSERT_EQ(held[i].value, model.points()[i].value) << "round " << round << ", point " << i;
    }
    EXPECT_EQ(series.summary().points(), held.size());
  }
}

TEST(Series, KeepsItsStepsRisingInLittleMemoryForAnyOrder) {
  std::mt19937 random(21);
  for (int round = 0; round < 300; ++round) {
    const SummaryLimits limits{3 + random() % 20, random() % 20};
    Series series("loss");
    std::uint64_t arrival = 0;
    for (const std::int64_t step : messy_steps(random, 500)) {
      series.add({step, kNoTime, 1.0}, ++arrival, limits);
    }
    const auto buckets = series.summary().buckets();
    ASSERT_LE(buckets.size(), limits.buckets);
    std::uint64_t points = 0;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      ASSERT_LE(buckets[i].first_step, buckets[i].last_step);
      if (i > 0) {
        ASSERT_GT(buckets[i].first_step, buckets[i - 1].last_step);
      }
      points += buckets[i].points();
    }
    EXPECT_EQ(points, series.summary().points());
    EXPECT_LE(series.summary().recent().size(), limits.recent + 1);
  }
}

}  // namespace
}  // namespace osler
