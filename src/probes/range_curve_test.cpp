// The curve of a range test, without a training behind it.
#include "probes/range_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "probes/class_skew.h"

namespace osler::probes {
namespace {

const std::vector<double>& rates() {
  static const std::vector<double> all = range_rates(1e-7, 10, 100, false);
  return all;
}

/// A loss of two that falls to one around `centre` and rises without bound around `centre` times a hundred.
RangePass pass(double centre, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Divergence divergence({});
  RangePass losses;
  for (const double rate : rates()) {
    const double decades = std::log10(rate / centre);
    const double loss = 2 - 1 / (1 + std::exp(-4 * decades)) + std::exp(6 * (decades - 2)) + noise * normal(random);
    if (divergence.add(loss)) break;
    losses.push_back(loss);
  }
  return losses;
}

std::vector<RangePass> passes(double centre, double noise, unsigned seed = 1, unsigned count = 3) {
  std::vector<RangePass> all;
  for (unsigned i = 0; i < count; ++i) all.push_back(pass(centre, noise, 100 * seed + i));
  return all;
}

TEST(RangeCurve, RatesRunFromStartToEnd) {
  EXPECT_DOUBLE_EQ(rates().front(), 1e-7);
  EXPECT_NEAR(rates().back(), 10, 1e-9);
  EXPECT_NEAR(rates()[50] / rates()[49], rates()[1] / rates()[0], 1e-9);
  const std::vector<double> linear = range_rates(1, 3, 5, true);
  EXPECT_THAT(linear, testing::ElementsAre(1, 1.5, 2, 2.5, 3));
}

TEST(RangeCurve, SmoothingHasNoBiasTowardsZeroAtTheStart) {
  EXPECT_THAT(smooth(std::vector<double>{4, 4, 4}, 0.05), testing::Each(testing::DoubleNear(4, 1e-12)));
  // 0.5 * 3 + 0.25 * 1 over 0.75.
  EXPECT_NEAR(smooth(std::vector<double>{1, 3}, 0.5)[1], 1.75 / 0.75, 1e-12);
}

TEST(RangeCurve, EveryMethodPointsIntoTheFall) {
  const RangeJudgement judgement = judge_range(rates(), passes(1e-3, 0));
  ASSERT_TRUE(judgement.suggestion.has_value()) << judgement.refusal;
  for (const double reading : {judgement.readings->steepest, judgement.readings->valley,
                               judgement.readings->minimum_tenth, judgement.readings->sliding_slope}) {
    EXPECT_GT(reading, 1e-4);
    EXPECT_LT(reading, 1e-2);
  }
  EXPECT_LE(judgement.low, *judgement.suggestion);
  EXPECT_GE(judgement.high, *judgement.suggestion);
  ASSERT_TRUE(judgement.divergence.has_value());
  EXPECT_GT(*judgement.divergence, 0.05);
}

TEST(RangeCurve, TheSuggestionMovesWithTheFall) {
  const double low = *judge_range(rates(), passes(1e-4, 0.01)).suggestion;
  const double high = *judge_range(rates(), passes(1e-2, 0.01)).suggestion;
  EXPECT_NEAR(std::log10(high / low), 2, 0.3);
}

TEST(RangeCurve, NoiseWidensTheInterval) {
  const RangeJudgement quiet = judge_range(rates(), passes(1e-3, 0.01));
  const RangeJudgement noisy = judge_range(rates(), passes(1e-3, 0.2));
  ASSERT_TRUE(quiet.suggestion && noisy.suggestion) << noisy.refusal;
  EXPECT_GT(noisy.high / noisy.low, quiet.high / quiet.low);
}

TEST(RangeCurve, TheIntervalHoldsWhatANoiselessTestSays) {
  const double truth = *judge_range(rates(), passes(1e-3, 0)).suggestion;
  int held = 0;
  int given = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const RangeJudgement judgement = judge_range(rates(), passes(1e-3, 0.15, seed));
    if (!judgement.suggestion) continue;
    ++given;
    held += judgement.low <= truth && truth <= judgement.high ? 1 : 0;
  }
  EXPECT_GT(given, 40);
  EXPECT_GE(10 * held, 8 * given) << held << " of " << given;
}

TEST(RangeCurve, RefusesAFlatCurve) {
  const RangePass flat(100, 2.3);
  EXPECT_THAT(judge_range(rates(), {flat, flat, flat}).refusal, testing::HasSubstr("does not fall"));
}

TEST(RangeCurve, RefusesNoiseAsLargeAsTheDip) {
  int suggested = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<RangePass> all(3, RangePass(100));
    for (RangePass& losses : all) {
      for (double& loss : losses) loss = 2.3 + 0.3 * normal(random);
    }
    suggested += judge_range(rates(), all).suggestion ? 1 : 0;
  }
  EXPECT_LE(suggested, 1);
}

TEST(RangeCurve, RefusesACurveThatDivergesAtOnce) {
  const RangePass wild(5, 2.0);
  const RangeJudgement judgement = judge_range(rates(), {wild, wild, wild});
  EXPECT_THAT(judgement.refusal, testing::HasSubstr("diverged at once"));
}

TEST(RangeCurve, RefusesACurveThatStillFallsAtItsEnd) {
  RangePass falling;
  for (const double rate : rates()) falling.push_back(2 - 0.2 * std::log10(rate / 1e-7) - 0.02 * rate);
  EXPECT_FALSE(judge_range(rates(), {falling, falling}).suggestion.has_value());
}

TEST(RangeCurve, RefusesPassesThatContradictEachOther) {
  const RangeJudgement judgement = judge_range(rates(), {pass(1e-5, 0, 1), pass(1e-1, 0, 2)});
  EXPECT_FALSE(judgement.suggestion.has_value());
  EXPECT_FALSE(judgement.refusal.empty());
}

TEST(RangeCurve, OnePassIsEnoughForASuggestion) {
  const RangeJudgement judgement = judge_range(rates(), {pass(1e-3, 0.01, 1)});
  ASSERT_TRUE(judgement.suggestion.has_value()) << judgement.refusal;
  EXPECT_LE(judgement.low, judgement.high);
}

TEST(RangeCurve, BlamesNoRateForALossThatIsBrokenFromTheStart) {
  const std::vector<double> rates = range_rates(1e-7, 10, 100, false);
  const RangeJudgement judgement = judge_range(rates, {{}, {}, {}});
  EXPECT_THAT(judgement.refusal, testing::HasSubstr("not finite before the first step"));
  EXPECT_EQ(judgement.divergence, std::nullopt);
}

TEST(RangeCurve, SeesALossThatFallsBelowZeroWithoutEnd) {
  const std::vector<double> rates = range_rates(1e-7, 10, 100, false);
  RangePass pass;
  for (const double rate : rates) pass.push_back(-1 - 1e4 * rate);
  EXPECT_THAT(judge_range(rates, {pass, pass, pass}).refusal, testing::HasSubstr("its sign is wrong"));
}

TEST(ClassSkew, TellsSortedBatchesFromShuffledOnes) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> any(0, 9);
  ClassSkew shuffled(10);
  ClassSkew sorted(10);
  for (int batch = 0; batch < 30; ++batch) {
    std::vector<std::int64_t> labels(32);
    for (std::int64_t& label : labels) label = any(random);
    shuffled.add(labels);
    sorted.add(std::vector<std::int64_t>(32, batch / 3));
  }
  EXPECT_EQ(shuffled.problem(), std::nullopt);
  EXPECT_THAT(sorted.problem().value(), testing::HasSubstr("not shuffled"));
}

TEST(ClassSkew, FewBatchesOfTwoClassesDifferByChance) {
  ClassSkew skew(2);
  // A chi-square of 18 at 7 degrees of freedom comes once in a hundred times.
  for (const int ones : {8, 12, 16, 16, 17, 18, 22, 21}) {
    std::vector<std::int64_t> labels(32, 0);
    std::fill_n(labels.begin(), ones, 1);
    skew.add(labels);
  }
  EXPECT_EQ(skew.problem(), std::nullopt);
}

TEST(ClassSkew, NoticesClassesThatNeverCome) {
  ClassSkew one(10);
  ClassSkew few(10);
  for (std::int64_t batch = 0; batch < 10; ++batch) {
    one.add(std::vector<std::int64_t>(32, 3));
    few.add({0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1});
  }
  EXPECT_THAT(one.problem().value(), testing::HasSubstr("class 3"));
  EXPECT_THAT(few.problem().value(), testing::HasSubstr("2 of 10"));
}

}  // namespace
}  // namespace osler::probes
