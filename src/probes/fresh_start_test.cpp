// The choice of short trainings, with trainings that are formulas.
#include "probes/fresh_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace osler::probes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Makes every training that the trial asks for; gives back the factors in their order.
std::vector<double> run(FreshTrial& trial, const std::function<double(const FreshArm&, int)>& loss,
                        bool regularised = false) {
  std::vector<double> factors;
  while (const auto arm = trial.next()) {
    if (!arm->regularised && !regularised) {
      trial.nothing_to_drop();
      continue;
    }
    factors.push_back(arm->factor);
    std::vector<double> losses;
    for (int step = 0; step < 50; ++step) {
      losses.push_back(loss(*arm, step));
      if (!std::isfinite(losses.back())) break;
    }
    trial.trained(*arm, losses);
  }
  return factors;
}

TEST(FreshTrial, StopsAboveTheBestRate) {
  FreshTrial trial({0.5, 0.01}, {2, 0.01}, 0.1, 50, 1e4, false);
  const auto factors = run(trial, [](const FreshArm& arm, int) { return arm.factor == 1 ? 0.5 : 1.5; });
  EXPECT_THAT(factors, ElementsAre(0.1, 1, 10));
  Experiment experiment;
  trial.write(experiment);
  EXPECT_EQ(experiment.outcome, Experiment::Outcome::passed) << experiment.verdict;
  EXPECT_EQ(experiment.value("best-factor"), 1);
  EXPECT_EQ(experiment.value("overtakes"), 0);
}

TEST(FreshTrial, GoesOnWhileHigherIsBetter) {
  FreshTrial trial({2, 0.01}, {2, 0.01}, 1e-5, 50, 1e4, false);
  const auto factors = run(trial, [](const FreshArm& arm, int) {
    return arm.factor > 5000 ? NAN : arm.factor == 1000 ? 0.3 : arm.factor == 100 ? 1.2 : 2.0;
  });
  EXPECT_THAT(factors, ElementsAre(0.1, 1, 10, 100, 1000, 10000));
  Experiment experiment;
  trial.write(experiment);
  EXPECT_EQ(experiment.outcome, Experiment::Outcome::failed) << experiment.verdict;
  EXPECT_EQ(experiment.value("best-factor"), 1000);
  EXPECT_EQ(experiment.value("overtakes"), 1);
  EXPECT_THAT(experiment.verdict, HasSubstr("beyond all numbers at 10000 times the rate"));
}

TEST(FreshTrial, BlamesTheRegularisation) {
  FreshTrial trial({1.9, 0.01}, {2, 0.01}, 0.1, 50, 10, false);
  run(
      trial, [](const FreshArm& arm, int) { return arm.regularised ? 1.9 : 0.4; }, /*regularised=*/true);
  Experiment experiment;
  trial.write(experiment);
  EXPECT_EQ(experiment.outcome, Experiment::Outcome::failed) << experiment.verdict;
  EXPECT_EQ(experiment.value("regularisation-hinders"), 1);
}

TEST(FreshTrial, DoesNotRecommendARateForALossWithTheWrongSign) {
  FreshTrial trial({0.5, 0.01}, {-1, 0.01}, 0.1, 50, 10, true);
  run(trial, [](const FreshArm& arm, int step) { return -1 - arm.factor * step; });
  Experiment experiment;
  trial.write(experiment);
  EXPECT_EQ(experiment.outcome, Experiment::Outcome::undecided);
  EXPECT_THAT(experiment.verdict, HasSubstr("sign is wrong"));
  EXPECT_EQ(experiment.value("best-factor"), std::nullopt);
}

TEST(FreshTrial, SeesTheWrongSignByTheFallToo) {
  FreshTrial trial({0.5, 0.01}, {-1, 0.01}, 0.1, 50, 10, /*classes=*/false);
  run(trial, [](const FreshArm& arm, int step) { return -1 - 100 * arm.factor * step; });
  Experiment experiment;
  trial.write(experiment);
  EXPECT_EQ(experiment.outcome, Experiment::Outcome::undecided);
  EXPECT_THAT(experiment.verdict, HasSubstr("falls below zero without end"));
  EXPECT_EQ(experiment.value("best-factor"), std::nullopt);
}

TEST(FreshTrial, LeavesTheQuestionOpenWhenNothingLearns) {
  FreshTrial trial({2, 0.01}, {2, 0.01}, 0.1, 50, 100, false);
  run(trial, [](const FreshArm&, int) { return 2.0; });
  Experiment experiment;
  trial.write(experiment);
  EXPECT_EQ(experiment.outcome, Experiment::Outcome::undecided);
  EXPECT_THAT(experiment.verdict, HasSubstr("none of these rates learns anything"));
}

}  // namespace
}  // namespace osler::probes
