// Harm is what the twin gained and the run did not.
#include "judge.h"

#include <gtest/gtest.h>

#include <cmath>

namespace osler::population {
namespace {

Recipe classifier() {
  Recipe recipe;
  recipe.outputs = 10;
  return recipe;
}

/// A run that began at chance and ended here.
History ended(double loss, double accuracy) {
  History history;
  history.untrained = {std::log(10.0), 0.1};
  history.final = history.best = {loss, accuracy};
  return history;
}

TEST(PopulationJudge, CallsARunSickThatLostATenthOfItsTwinsProgress) {
  const double chance = std::log(10.0);
  const Judgement judgement = judge_planted(classifier(), ended(0.3 * chance, 0.7), ended(0.1 * chance, 0.9), {});
  EXPECT_EQ(judgement.verdict, "sick");
  EXPECT_NEAR(judgement.harm_loss, 0.2 / 0.9, 1e-9);
  EXPECT_NEAR(judgement.harm_metric, 0.2 / 0.8, 1e-9);
  EXPECT_NEAR(judgement.harm, 0.25, 1e-9);
}

TEST(PopulationJudge, CallsAPlantedFaultThatDidNoHarmHealthy) {
  EXPECT_EQ(judge_planted(classifier(), ended(0.201, 0.9), ended(0.2, 0.9), {}).verdict, "healthy");
}

TEST(PopulationJudge, NeverCallsHealthyWhatIsWrongByFact) {
  EXPECT_EQ(judge_planted(classifier(), ended(0.2, 0.9), ended(0.2, 0.9), {.by_fact = true}).verdict, "undecidable");
}

TEST(PopulationJudge, DoesNotDecideBetween) {
  const double chance = std::log(10.0);
  EXPECT_EQ(judge_planted(classifier(), ended(0.05 * chance, 1), ended(0, 1), {}).verdict, "undecidable");
}

TEST(PopulationJudge, DoesNotDecideWhereTheTwinLearnedNothing) {
  EXPECT_EQ(judge_planted(classifier(), ended(2.3, 0.1), ended(2.29, 0.1), {}).verdict, "undecidable");
}

TEST(PopulationJudge, CallsWhatIsNotFiniteSick) {
  History run = ended(kNothing, kNothing);
  run.finite = false;
  const Judgement judgement = judge_planted(classifier(), run, ended(0.2, 0.9), {});
  EXPECT_EQ(judgement.verdict, "sick");
  EXPECT_TRUE(std::isfinite(judgement.harm));
}

TEST(PopulationJudge, MeasuresAMisleadingLogAgainstTheTruth) {
  History run = ended(0.2, 0.9);
  run.logged_final = 0.2;
  run.logged_metric = 0.9;
  EXPECT_EQ(judge_planted(classifier(), run, run, {.misleads = true}).verdict, "healthy");
  run.logged_metric = 0.1;
  EXPECT_EQ(judge_planted(classifier(), run, run, {.misleads = true}).verdict, "sick");
}

TEST(PopulationJudge, DoubtsAHealthyDrawThatAnotherRateWouldMakeFarBetter) {
  EXPECT_EQ(judge_healthy(classifier(), ended(1.5, 0.5), {}).verdict, "healthy");
  EXPECT_EQ(judge_healthy(classifier(), ended(1.5, 0.5), {ended(0.1, 0.97)}).verdict, "undecidable");
}

TEST(PopulationJudge, DoubtsAHealthyDrawThatForgotWhatItKnew) {
  History run = ended(1.0, 0.6);
  run.best = {0.5, 0.8};
  EXPECT_EQ(judge_healthy(classifier(), run, {}).verdict, "undecidable");
}

TEST(PopulationJudge, SeesAStuckCurveAndNotASmoothOne) {
  History stuck = ended(2.3, 0.1);
  History smooth = ended(0.1, 0.97);
  for (int i = 0; i < 200; ++i) {
    stuck.steps.emplace_back().loss = 2.3;
    smooth.steps.emplace_back().loss = 0.1 + 2.2 * std::exp(-i / 15.0);
  }
  stuck.looks = smooth.looks = {{200, 0.12, 0.9}};
  EXPECT_TRUE(curve_shows(classifier(), stuck, {}));
  EXPECT_FALSE(curve_shows(classifier(), smooth, {}));
}

}  // namespace
}  // namespace osler::population
