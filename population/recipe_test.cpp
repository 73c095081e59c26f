// What a recipe promises: the same draws everywhere, schedules that do what their names say, two sides of a split.
#include "recipe.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "random.h"

namespace osler::population {
namespace {

TEST(PopulationRandom, IsTheSameOnEveryMachine) {
  Random random(1);
  EXPECT_DOUBLE_EQ(random.uniform(), Random(1).uniform());
  EXPECT_EQ(mixed(1), 0x910a2dec89025cc1ULL);
}

TEST(PopulationRandom, StaysWithinItsBounds) {
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    const long whole = random.log_whole(2, 9);
    EXPECT_GE(whole, 2);
    EXPECT_LE(whole, 9);
    const double rate = random.log_between(1e-3, 1e-1);
    EXPECT_GE(rate, 1e-3);
    EXPECT_LT(rate, 1e-1);
  }
}

Recipe with(Schedule schedule) {
  Recipe recipe;
  recipe.schedule = schedule;
  recipe.rate = 0.1;
  recipe.horizon = recipe.steps = 100;
  recipe.warmup = 0.1;
  return recipe;
}

TEST(PopulationSchedule, WarmUpRisesAndThenFalls) {
  const Recipe recipe = with(Schedule::warmup_cosine);
  EXPECT_LT(rate_at(recipe, 0), 0.02);
  EXPECT_NEAR(rate_at(recipe, 10), 0.1, 0.002);
  EXPECT_LT(rate_at(recipe, 99), 0.01);
}

TEST(PopulationSchedule, RestartsReturnToTheFullRate) {
  const Recipe recipe = with(Schedule::restarts);
  EXPECT_LT(rate_at(recipe, 33), 0.01);
  EXPECT_GT(rate_at(recipe, 34), 0.09);
}

TEST(PopulationSchedule, StartsOverAtTheResumeWhenItsStateIsLost) {
  Recipe recipe = with(Schedule::cosine);
  recipe.resumed = 80;
  EXPECT_LT(rate_at(recipe, 80), 0.02);
  recipe.schedule_lost = true;
  EXPECT_DOUBLE_EQ(rate_at(recipe, 80), 0.1);
}

TEST(PopulationSchedule, EndsEarlyWhenItRunsTooFast) {
  Recipe recipe = with(Schedule::linear);
  recipe.schedule_pace = 5;
  EXPECT_GT(rate_at(recipe, 10), 0);
  EXPECT_DOUBLE_EQ(rate_at(recipe, 20), 0);
}

TEST(PopulationDraw, GivesTheSameRecipeForTheSameSeed) {
  Random one(5);
  Random other(5);
  const Recipe a = draw_recipe(5, one);
  const Recipe b = draw_recipe(5, other);
  EXPECT_EQ(family(a), family(b));
  EXPECT_DOUBLE_EQ(a.rate, b.rate);
  EXPECT_EQ(a.steps, b.steps);
}

TEST(PopulationDraw, KeepsAboutAThirdOfTheRunsApart) {
  long left_out = 0;
  std::set<Task> tasks;
  std::set<Model> models;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Recipe recipe = draw_recipe(seed, random);
    if (is_for_learning(family(recipe))) continue;
    ++left_out;
    tasks.insert(recipe.task);
    models.insert(recipe.model);
  }
  EXPECT_GT(left_out, 560);
  EXPECT_LT(left_out, 840);
  EXPECT_GE(tasks.size(), 9U);
  EXPECT_GE(models.size(), 5U);
}

}  // namespace
}  // namespace osler::population
