// What measurements mean, with measurements that are made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "probes/curvature_verdict.h"
#include "probes/memorising.h"
#include "probes/noise_scale.h"
#include "probes/range_verdict.h"
#include "probes/start.h"
#include "probes/surface_verdict.h"
#include "probes/words.h"

namespace osler::probes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Outcome = Experiment::Outcome;

/// Products of gradients that share a part of length `signal` in noise of length `noise`.
std::vector<double> products(double signal, double noise, std::size_t count = 12) {
  constexpr std::size_t kSize = 400;
  std::mt19937 random(3);
  std::normal_distribution<double> normal(0, noise / std::sqrt(static_cast<double>(kSize)));
  std::vector<std::vector<double>> gradients(count, std::vector<double>(kSize));
  for (auto& gradient : gradients) {
    for (double& each : gradient) each = normal(random) + signal / std::sqrt(static_cast<double>(kSize));
  }
  std::vector<double> table;
  for (const auto& a : gradients) {
    for (const auto& b : gradients) {
      double dot = 0;
      for (std::size_t i = 0; i < kSize; ++i) dot += a[i] * b[i];
      table.push_back(dot);
    }
  }
  return table;
}

TEST(NoiseScale, IsTheBatchTimesNoiseOverSignal) {
  Experiment experiment;
  write_noise_scale(products(1, 2), 32, 20, experiment);
  EXPECT_EQ(experiment.outcome, Outcome::passed) << experiment.verdict;
  EXPECT_NEAR(*experiment.value("noise-scale"), 32 * 4, 30);
  EXPECT_EQ(experiment.value("suggested-batch-size"), 128);
}

TEST(NoiseScale, FailsWhenStepsAreMostlyNoise) {
  Experiment experiment;
  write_noise_scale(products(1, 8, 40), 1, 20, experiment);
  EXPECT_EQ(experiment.outcome, Outcome::failed) << experiment.verdict;
  EXPECT_THAT(experiment.verdict, HasSubstr("steps are mostly noise"));
}

TEST(NoiseScale, LeavesItOpenWhereTheIntervalHoldsTheLimit) {
  Experiment few;
  write_noise_scale(products(1, 4, 8), 4, 9, few);
  EXPECT_EQ(few.outcome, Outcome::undecided) << few.verdict;
  EXPECT_THAT(few.verdict, HasSubstr("8 gradients do not tell whether it is more than 9 times the batch"));
  EXPECT_FALSE(few.value("suggested-batch-size"));
  EXPECT_GE(few.value("gradients-needed").value_or(0), 16) << few.verdict;
  EXPECT_TRUE(wants_more_gradients(few));
}

TEST(NoiseScale, IsDecidedByAsManyGradientsAsItAskedFor) {
  Experiment few;
  write_noise_scale(products(1, 4, 6), 1, 6, few);
  ASSERT_EQ(few.outcome, Outcome::undecided) << few.verdict;
  const auto needed = static_cast<std::size_t>(few.value("gradients-needed").value_or(0));
  ASSERT_THAT(needed, testing::AllOf(testing::Ge(12U), testing::Le(400U))) << few.verdict;
  Experiment enough;
  write_noise_scale(products(1, 4, needed), 1, 6, enough);
  EXPECT_EQ(enough.outcome, Outcome::failed) << enough.verdict;
  EXPECT_FALSE(wants_more_gradients(enough));
}

TEST(NoiseScale, AsksForNoMoreWhereGradientsAreEqual) {
  Experiment equal;
  write_noise_scale(std::vector<double>(49, 0.1), 32, 20, equal);
  EXPECT_EQ(equal.outcome, Outcome::undecided) << equal.verdict;
  EXPECT_FALSE(wants_more_gradients(equal)) << "rounding is no noise";
}

TEST(NoiseScale, LeavesItOpenWhereThereIsNoNoise) {
  Experiment experiment;
  write_noise_scale(std::vector<double>(9, 1.0), 32, 20, experiment);
  EXPECT_EQ(experiment.outcome, Outcome::undecided);
  EXPECT_THAT(experiment.verdict, HasSubstr("there is no noise to measure"));
}

TEST(Sharpness, TellsSharpFromFlatAndFromUnclear) {
  const auto outcome = [](std::vector<double> rises) {
    Experiment experiment;
    write_sharpness({0.05, 0.1, std::move(rises), {0.0, 0.1}, {0.5, 0.7}}, experiment);
    EXPECT_EQ(experiment.value("worst-ratio"), 0.7);
    return experiment.outcome;
  };
  EXPECT_EQ(outcome({0.5, 0.6, 0.55}), Outcome::failed);
  EXPECT_EQ(outcome({0.01, 0.02, 0.015}), Outcome::passed);
  EXPECT_EQ(outcome({0.0, 0.2, 0.1}), Outcome::undecided);
}

TEST(Surface, SaysWhetherTheWeightsAreAtTheBottom) {
  Experiment bottom;
  write_surface({1, 1, 0.5, {-1, 0, 1}, {0, 0, 0}, {2, 0.5, 3}}, bottom);
  EXPECT_EQ(bottom.outcome, Outcome::passed);
  EXPECT_EQ(bottom.columns.size(), 2U);
  Experiment slope;
  write_surface({2, 1, 0.5, {-1, 0}, {0, 1}, {0.1, 0.5}}, slope);
  EXPECT_EQ(slope.outcome, Outcome::undecided);
  EXPECT_EQ(slope.value("lowest-a"), -1);
  EXPECT_EQ(slope.columns.size(), 3U);
}

CurvatureFacts facts(double signal, double lowest, double highest) {
  CurvatureFacts made;
  made.loss = 1;
  made.gradient_norm = std::sqrt(signal);
  made.gradient_signal = signal;
  made.weights = 10;
  made.ends.lowest = lowest;
  made.ends.highest = highest;
  made.ends.converged = true;
  return made;
}

TEST(Curvature, KnowsFourKindsOfGround) {
  EXPECT_EQ(ground_of(facts(1, 0, 2), {}), Ground::slope);
  EXPECT_EQ(ground_of(facts(0, -1, 2), {}), Ground::saddle);
  EXPECT_EQ(ground_of(facts(0, 0, 2), {}), Ground::minimum);
  EXPECT_EQ(ground_of(facts(0, 0, 1e-6), {}), Ground::plateau);
}

TEST(Curvature, FailsOnASaddleUnlessItIsOneOfTheseBatches) {
  Experiment saddle;
  write_ground(facts(0, -1, 2), Ground::saddle, false, {}, saddle);
  EXPECT_EQ(saddle.outcome, Outcome::failed);
  Experiment chance;
  write_ground(facts(0, -1, 2), Ground::saddle, true, {}, chance);
  EXPECT_EQ(chance.outcome, Outcome::passed);
  EXPECT_THAT(chance.verdict, HasSubstr("larger batches would tell"));
}

TEST(Curvature, TellsTheTraceOfTheWholeAndOfEachLayer) {
  Experiment experiment;
  write_curvature(facts(0, 0, 2), true, {{3, 1, 2}, {5, 1, 4}}, {{"a", 1.5}, {"b", std::nullopt}}, experiment);
  EXPECT_EQ(experiment.value("trace"), 4);
  ASSERT_NE(experiment.column("layer-trace"), nullptr);
  EXPECT_THAT(experiment.column("layer-trace")->values, ElementsAre(1, 3));
  EXPECT_EQ(experiment.checks[0].text, "top eigenvalue 1.5, trace 1 +- 0");
}

TEST(Curvature, OnlyABendBeyondItsNoiseGoesDown) {
  EXPECT_TRUE(bends_down({-1, -1.1, -0.9, -1}));
  EXPECT_FALSE(bends_down({-1, 1, -2, 2}));
}

TEST(MemoryGoal, IsReachedByThreeLowLosses) {
  const MemoryGoal goal = MemoryGoal::towards(2, 0, 2);
  EXPECT_NEAR(goal.target, 0.1, 1e-12);
  EXPECT_NEAR(MemoryGoal::towards(200, 0, 2).target, 0.1, 1e-12);
  EXPECT_FALSE(goal.reached(std::vector<double>{0.05, 0.2, 0.05}));
  EXPECT_TRUE(goal.reached(std::vector<double>{2, 0.1, 0.05, 0.05}));
}

TEST(MemoryGoal, TellsSlowFromStuckAndFromWild) {
  const MemoryGoal goal = MemoryGoal::towards(2, 0, 2);
  std::vector<double> slow;
  for (int i = 0; i < 100; ++i) slow.push_back(2 - 0.01 * i);
  EXPECT_TRUE(goal.still_falls(slow, 100));
  EXPECT_FALSE(goal.still_falls(std::vector<double>(100, 1.9), 100));
  EXPECT_FALSE(goal.went_wild(slow));
  EXPECT_TRUE(goal.went_wild(std::vector<double>{2, 9, 1}));
  EXPECT_TRUE(goal.went_wild(std::vector<double>{2, NAN}));
}

TEST(MemoryGoal, SeesALossWithoutALowestValue) {
  EXPECT_TRUE(falls_without_end(std::vector<double>{-1, -2, -4, -8, -16}));
  EXPECT_FALSE(falls_without_end(std::vector<double>{2, 1, 0.5, 0.25, 0.12}));
  EXPECT_TRUE(falls_without_end(-1.4, -500));
  EXPECT_FALSE(falls_without_end(1.4, -3));      // the logarithm of a density
  EXPECT_FALSE(falls_without_end(2000, -3500));  // summed over an image
}

TEST(Starts, JudgesBySizeRowsAndBias) {
  const auto weight = [](const char* name, double size, double rows) {
    WeightStart start;
    start.name = name;
    start.size = size;
    start.rows = rows;
    start.units = 8;
    start.inputs = 50;
    start.outputs = 8;
    return start;
  };
  WeightStart bias;
  bias.name = "bias";
  bias.vector = true;
  bias.largest = 5;
  Experiment experiment;
  write_starts(std::vector{weight("good", 0.2, 1), weight("huge", 20, 1), weight("equal", 0.2, 0),
                           weight("zero", 0, std::numeric_limits<double>::quiet_NaN()), bias},
               experiment);
  EXPECT_EQ(experiment.value("badly-started"), 3);
  EXPECT_EQ(experiment.verdict, "3 of 5 tensors start badly: huge, equal, bias. At zero are zero.");
}

TEST(Checkup, CountsWhatFailedAndWhatWasNotChecked) {
  Experiment experiment;
  experiment.checks = {{"a", Outcome::passed, ""}, {"b", Outcome::failed, ""}, {"c", Outcome::undecided, ""}};
  conclude_checkup(experiment);
  EXPECT_EQ(experiment.verdict, "1 of 2 points failed: b. 1 could not be checked.");
}

TEST(Range, SaysHowFarThePresentRateIsOff) {
  const std::vector<double> rates = range_rates(1e-7, 10, 100, false);
  RangePass pass;
  for (const double rate : rates) {
    const double decades = std::log10(rate / 1e-2);
    pass.push_back(2 - 1 / (1 + std::exp(-4 * decades)) + std::exp(6 * (decades - 2)));
  }
  Experiment experiment;
  write_range(rates, {pass, pass}, 1e-6, {}, "they are sorted.", experiment);
  EXPECT_EQ(experiment.outcome, Outcome::failed) << experiment.verdict;
  EXPECT_THAT(experiment.verdict, HasSubstr("times smaller"));
  EXPECT_THAT(experiment.verdict, HasSubstr("The batches may not be representative: they are sorted."));
}

TEST(Words, NamesAFewOfMany) {
  EXPECT_EQ(some_of({"a", "b"}), "a, b");
  EXPECT_EQ(some_of({"a", "b", "c", "d", "e", "f"}), "a, b, c, d and 2 more");
}

}  // namespace
}  // namespace osler::probes
