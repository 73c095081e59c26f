// The simulator: reproducible, labelled in the catalogue's words, and its trainings really train.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <set>

#include "simulate/draft.h"
#include "simulate/family_lists.h"
#include "simulate/quadratic.h"
#include "simulate/simulated_run.h"
#include "simulate/trainer.h"

namespace osler::simulate {
namespace {

using ::testing::Contains;

/// The ids of one kind ("finding", "cause") that are a public contract.
std::set<std::string> contract(const std::string& kind) {
  std::ifstream file(OSLER_SOURCE_DIR "/tests/meta/catalogue_ids.txt");
  std::set<std::string> ids;
  for (std::string first, id; file >> first;) {
    if (first == "#") {
      std::getline(file, id);
      continue;
    }
    file >> id;
    if (first == kind) ids.insert(id);
  }
  return ids;
}

std::string values_of(const SimulatedRun& run) {
  // to_csv prints NaN alike whatever its bits, so that runs with NaN can be compared.
  return to_csv(run);
}

TEST(SimulateTest, SameSeedGivesTheSameRun) {
  for (const Family& family : families()) {
    if (family.name == "healthy-long-log") continue;  // a million points twice would only cost time
    EXPECT_EQ(values_of(draw(family, 7)), values_of(draw(family, 7))) << family.name;
  }
}

TEST(SimulateTest, SeedsAndFamiliesDiffer) {
  std::set<std::string> names;
  for (const Family& family : families()) {
    EXPECT_TRUE(names.insert(std::string(family.name)).second) << family.name << " is there twice";
  }
  const Family& any = families().front();
  EXPECT_NE(values_of(draw(any, 1)), values_of(draw(any, 2)));
}

std::set<std::string> distinct(const std::vector<std::string>& ids) {
  return {ids.begin(), ids.end()};
}

TEST(SimulateTest, LabelsUseTheCatalogue) {
  const std::set<std::string> findings = contract("finding");
  const std::set<std::string> causes = contract("cause");
  ASSERT_FALSE(findings.empty());
  ASSERT_FALSE(causes.empty());
  for (const Family& family : families()) {
    const Truth truth = draw(family, 3).truth;
    EXPECT_EQ(truth.healthy, family.healthy) << family.name;
    EXPECT_THAT(findings, ::testing::IsSupersetOf(distinct(truth.accept))) << family.name;
    EXPECT_THAT(findings, ::testing::IsSupersetOf(distinct(truth.tolerate))) << family.name;
    EXPECT_THAT(causes, ::testing::IsSupersetOf(distinct(truth.causes))) << family.name;
    if (!truth.healthy) {
      EXPECT_THAT(truth.accept, Contains(truth.finding)) << family.name;
    }
  }
}

TEST(SimulateTest, RunHoldsEverySample) {
  const SimulatedRun simulated = draw(families().front(), 5);
  const osler::Run run = to_run(simulated);
  for (const Curve& curve : simulated.curves) {
    const Series* series = run.find(curve.name);
    ASSERT_NE(series, nullptr) << curve.name;
    EXPECT_EQ(series->summary().points(), curve.samples.size());
    EXPECT_EQ(series->summary().last_step(), curve.samples.back().step);
  }
}

TEST(RandomTest, NormalHasUnitVarianceAndHeavyHasHeavierTails) {
  Random random(1);
  constexpr int kDraws = 100'000;
  double square = 0;
  int far_normal = 0;
  int far_heavy = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    square += x * x;
    far_normal += std::abs(x) > 4.0 ? 1 : 0;
    far_heavy += std::abs(random.heavy()) > 4.0 ? 1 : 0;
  }
  EXPECT_NEAR(square / kDraws, 1.0, 0.02);
  EXPECT_GT(far_heavy, 20 * (far_normal + 1));
}

TEST(QuadraticTest, LowersItsLossBelowTheLimitOfStabilityAndRaisesItAbove) {
  Quadratic task;
  task.steps_per_row = 1;
  Random random(2);
  const QuadraticCurves stable = train_quadratic(task, Levels(300, 0.5), random);
  EXPECT_LT(stable.train.back(), 0.7 * stable.train.front());
  const QuadraticCurves unstable = train_quadratic(task, Levels(300, 2.2), random);
  EXPECT_GT(unstable.train.back(), 1e6);
}

TEST(QuadraticTest, CooldownLowersTheNoiseFloor) {
  Quadratic task;
  task.gradient_noise = 0.5;
  Levels rates(400, 0.8);
  std::fill(rates.begin() + 300, rates.end(), 0.01);
  Random random(3);
  const Levels loss = train_quadratic(task, rates, random).train;
  const double before = std::accumulate(loss.begin() + 200, loss.begin() + 300, 0.0) / 100.0;
  const double after = std::accumulate(loss.end() - 50, loss.end(), 0.0) / 50.0;
  EXPECT_LT(after, before);
}

TEST(TrainerTest, LearnsSeparableCloudsAlmostPerfectly) {
  Random random(4);
  const Task task = blobs(random, 3, 8, 800, 0.3);
  const std::vector<TrainedRow> rows = train(task, Training(), random);
  EXPECT_GT(rows.back().validation_accuracy, 0.95);
  EXPECT_LT(rows.back().train_loss, 0.2 * rows.front().train_loss);
}

TEST(TrainerTest, LinearModelCannotLearnSpiralsButADeeperOneCan) {
  Random random(5);
  const Task task = spirals(random, 2, 1000, 6.0);
  Training linear;
  linear.hidden = {};
  Training deep;
  deep.hidden = {32, 32};
  deep.steps = 3000;
  EXPECT_LT(train(task, linear, random).back().validation_accuracy, 0.8);
  EXPECT_GT(train(task, deep, random).back().validation_accuracy, 0.9);
}

TEST(TrainerTest, TooHighARateOverflowsInSinglePrecision) {
  Random random(6);
  const Task task = regression(random, 6, 500, 0.1);
  Training training;
  training.optimiser = Optimiser::sgd;
  training.rate = 100;
  EXPECT_FALSE(std::isfinite(train(task, training, random).back().train_loss));
}

TEST(TrainerTest, ClippingKeepsARecurrentNetworkFinite) {
  Recurrence plan;
  plan.init = 2.0;
  plan.rate = 0.05;
  Random random(7);
  EXPECT_FALSE(std::isfinite(train_recurrent(plan, random).back().train_loss));
  plan.clip = 0.5;
  Random again(7);
  EXPECT_TRUE(std::isfinite(train_recurrent(plan, again).back().train_loss));
}

}  // namespace
}  // namespace osler::simulate
