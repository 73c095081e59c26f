// Comparing runs whose difference is known.
#include "osler/diagnosis/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "signal/seeded_noise.h"

namespace osler {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Recipe {
  unsigned seed = 1;
  int steps = 1000;
  int parts_at = 1 << 30;  // from here on the loss is `apart` higher
  double apart = 0;
  double rate = 1e-3;
  int steps_per_epoch = 100;
  double tokens_per_step = 0;
};

Run make_run(const Recipe& recipe) {
  osler::Run run;
  run.name = "run-" + std::to_string(recipe.seed);
  signal::SeededNoise noise(recipe.seed);
  for (int step = 0; step < recipe.steps; ++step) {
    const auto add = [&](const char* name, double value) { run.add(Event{run.series(name), step, kNoTime, value}); };
    const double seen = step * (recipe.tokens_per_step > 0 ? recipe.tokens_per_step / 1000 : 1.0);
    const double jump = step >= recipe.parts_at ? recipe.apart : 0;
    add("train/loss", 1.0 + 2.0 * std::exp(-seen / 150.0) + jump + 0.03 * noise.next());
    add("lr", recipe.rate);
    add("epoch", static_cast<double>(step) / recipe.steps_per_epoch);
    if (recipe.tokens_per_step > 0) add("tokens", step * recipe.tokens_per_step);
  }
  run.config("lr", std::to_string(recipe.rate));
  run.config("name", run.name);
  return run;
}

const SeriesComparison& series(const Comparison& comparison, const std::string& name) {
  for (const SeriesComparison& compared : comparison.series) {
    if (compared.a.series == name) return compared;
  }
  throw std::logic_error("no series " + name);
}

TEST(Compare, TwoSeedsOfOneTrainingDoNotPart) {
  int parted = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const auto comparison = compare(make_run({.seed = seed}), make_run({.seed = seed + 1000}));
    ASSERT_TRUE(comparison);
    parted += comparison->first ? 1 : 0;
    EXPECT_EQ(comparison->standing, Standing::same);
  }
  EXPECT_LE(parted, 1) << "noise is no difference";
}

TEST(Compare, FindsWhereTheLossPartsWithinAFewPerCentOfTheRun) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto comparison =
        compare(make_run({.seed = seed}), make_run({.seed = 99 + seed, .parts_at = 600, .apart = 0.2}));
    ASSERT_TRUE(comparison);
    ASSERT_TRUE(series(*comparison, "train/loss").parting);
    EXPECT_NEAR(series(*comparison, "train/loss").parting->at, 600, 30);
    EXPECT_EQ(comparison->standing, Standing::worse);
    EXPECT_THAT(comparison->headline, HasSubstr("train/loss"));
  }
}

TEST(Compare, ALearningRateThatDiffersIsToldFirst) {
  const auto comparison =
      compare(make_run({.seed = 1}), make_run({.seed = 2, .parts_at = 300, .apart = 0.4, .rate = 1e-2}));
  ASSERT_TRUE(comparison);
  ASSERT_TRUE(comparison->first);
  EXPECT_EQ(comparison->series[*comparison->first].a.series, "lr");
  EXPECT_THAT(comparison->config, Contains(Field(&ConfigDifference::key, "lr")));
  EXPECT_EQ(comparison->config.front().key, "lr") << "what steers training comes first";
}

TEST(Compare, RunsFromOneSeedAreIdenticalUntilTheyPart) {
  const auto comparison = compare(make_run({.seed = 7}), make_run({.seed = 7, .parts_at = 500, .apart = 0.3}));
  ASSERT_TRUE(comparison);
  const SeriesComparison& loss = series(*comparison, "train/loss");
  ASSERT_TRUE(loss.identical_until);
  EXPECT_NEAR(*loss.identical_until, 500, 20);
  const auto twins = compare(make_run({.seed = 7}), make_run({.seed = 7}));
  ASSERT_TRUE(twins);
  EXPECT_FALSE(twins->first);
  EXPECT_THAT(twins->config, IsEmpty());
}

TEST(Compare, TellsHowEachRunEnds) {
  osler::Run falling;
  osler::Run settled;
  for (int step = 0; step < 400; ++step) {
    falling.add(Event{falling.series("loss"), step, kNoTime, 3.0 - 0.005 * step});
    settled.add(Event{settled.series("loss"), step, kNoTime, step < 200 ? 3.0 - 0.01 * step : 1.0});
  }
  const auto comparison = compare(falling, settled);
  ASSERT_TRUE(comparison);
  const SeriesComparison& loss = series(*comparison, "loss");
  ASSERT_TRUE(loss.a.ending && loss.b.ending);
  EXPECT_EQ(loss.a.ending->motion, Ending::Motion::improves);
  EXPECT_EQ(loss.b.ending->motion, Ending::Motion::stands);
  EXPECT_NEAR(loss.b.ending->since, 200, 20);
}

TEST(Compare, ABetterRunIsBetter) {
  const auto comparison = compare(make_run({.seed = 1, .parts_at = 200, .apart = 0.3}), make_run({.seed = 2}));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->standing, Standing::better);
}

osler::Run nan_from(int step_from, unsigned seed = 2) {
  osler::Run run;
  signal::SeededNoise noise(seed);
  for (int step = 0; step < 400; ++step) {
    const double loss = 0.3 + 2.0 * std::exp(-step / 60.0) + 0.02 * noise.next();
    run.add(Event{run.series("loss"), step, kNoTime, step < step_from ? loss : std::nan("")});
  }
  return run;
}

TEST(Compare, ARunThatTurnedNanIsWorseHoweverGoodItWasBefore) {
  const auto comparison = compare(nan_from(400, 1), nan_from(200));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->standing, Standing::worse);
  EXPECT_EQ(comparison->reason, StandingReason::nonfinite);
  EXPECT_THAT(comparison->headline, HasSubstr("no finite value of loss after step 199"));
  EXPECT_EQ(series(*comparison, "loss").b.lost_after, 199);
  EXPECT_LE(comparison->to, 199) << "there is nothing to compare beyond";
  const auto other_way = compare(nan_from(200), nan_from(400, 1));
  ASSERT_TRUE(other_way);
  EXPECT_EQ(other_way->standing, Standing::better);
}

TEST(Compare, ARunWhoseLossEndsBeforeTheRestIsWorse) {
  osler::Run silent;  // as pandas writes NaN: nothing
  const osler::Run good = make_run({});
  for (int step = 0; step < 1000; ++step) {
    const double loss = 1.0 + 2.0 * std::exp(-step / 150.0) + 0.01 * std::sin(1.3 * step);
    if (step < 500) silent.add(Event{silent.series("train/loss"), step, kNoTime, loss});
    silent.add(Event{silent.series("lr"), step, kNoTime, 1e-3});
  }
  const auto comparison = compare(good, silent);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->standing, Standing::worse);
  EXPECT_THAT(comparison->verdict, HasSubstr("it has no finite value of train/loss after step 499"));
}

TEST(Compare, ARunWithoutOneFiniteLossIsWorseAndNotIncomparable) {
  const auto comparison = compare(nan_from(400, 1), nan_from(0));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->standing, Standing::worse);
  EXPECT_THAT(comparison->headline, HasSubstr("no finite value of loss at all"));
}

TEST(Compare, NanWhereNothingWasMeasuredIsNoDeath) {
  const auto with_gaps = [](unsigned seed) {
    osler::Run run;
    signal::SeededNoise noise(seed);
    for (int step = 0; step < 400; ++step) {
      const double loss = 0.3 + 2.0 * std::exp(-step / 60.0) + 0.02 * noise.next();
      run.add(Event{run.series("val_loss"), step, kNoTime, step % 20 == 0 ? loss : std::nan("")});
      run.add(Event{run.series("loss"), step, kNoTime, loss});
    }
    return run;
  };
  const auto comparison = compare(with_gaps(1), with_gaps(2));
  ASSERT_TRUE(comparison);
  EXPECT_NE(comparison->reason, StandingReason::nonfinite);
  EXPECT_FALSE(series(*comparison, "val_loss").b.lost_after);
}

TEST(Compare, ARunThatCrashedIsWorseUnlessItWentOn) {
  osler::Run crashed = make_run({.seed = 2});
  crashed.add(Mark{Mark::Kind::crashed, 999, kNoTime, "out of memory"});
  const auto comparison = compare(make_run({.seed = 1}), crashed);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->standing, Standing::worse);
  EXPECT_EQ(comparison->reason, StandingReason::crashed);
  EXPECT_THAT(comparison->headline, HasSubstr("crashed at step 999"));

  osler::Run resumed = make_run({.seed = 2});
  resumed.add(Mark{Mark::Kind::crashed, 500, kNoTime, "preempted"});
  const auto went_on = compare(make_run({.seed = 1}), resumed);
  ASSERT_TRUE(went_on);
  EXPECT_NE(went_on->reason, StandingReason::crashed);
}

TEST(Compare, ARunThatStoppedEarlyIsWorse) {
  const auto comparison = compare(make_run({.seed = 1}), make_run({.seed = 2, .steps = 150}));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->standing, Standing::worse);
  EXPECT_EQ(comparison->reason, StandingReason::stopped_early);
  EXPECT_THAT(comparison->headline, HasSubstr("stopped early, at step 149 where the first went to step 999"));
}

TEST(Compare, AShorterRunIsNoWorseWhenItIsDoneOrStillGoesOnOrIsAsGood) {
  const osler::Run whole = make_run({.seed = 1});
  osler::Run done = make_run({.seed = 2, .steps = 150});
  done.add(Mark{Mark::Kind::finished, 149, kNoTime, {}});
  const auto finished = compare(whole, done);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->standing, Standing::same);
  CompareOptions live;
  live.still_grows = true;
  const auto growing = compare(whole, make_run({.seed = 2, .steps = 150}), live);
  ASSERT_TRUE(growing);
  EXPECT_EQ(growing->standing, Standing::same);
  const auto as_good = compare(whole, make_run({.seed = 2, .steps = 850}));
  ASSERT_TRUE(as_good);
  EXPECT_EQ(as_good->standing, Standing::same) << "its loss had come to where the first one ends";
}

TEST(Compare, WhatOnlyTheSecondHasCriticallyMakesItWorse) {
  osler::Run diverged;
  osler::Run fine;
  signal::SeededNoise noise(3);
  for (int step = 0; step < 400; ++step) {
    const double loss = 0.3 + 2.0 * std::exp(-step / 60.0) + 0.02 * noise.next();
    const double accuracy = 1 - 0.5 * loss + 0.2 * noise.next();
    fine.add(Event{fine.series("train_loss"), step, kNoTime, loss});
    fine.add(Event{fine.series("val_accuracy"), step, kNoTime, accuracy});
    diverged.add(Event{diverged.series("train_loss"), step, kNoTime, step < 300 ? loss : loss + 0.5 * (step - 299)});
    diverged.add(Event{diverged.series("val_accuracy"), step, kNoTime, accuracy});
  }
  const auto comparison = compare(fine, diverged);
  ASSERT_TRUE(comparison);
  ASSERT_EQ(comparison->b.status, Status::critical);
  EXPECT_EQ(comparison->standing, Standing::worse);
  EXPECT_EQ(comparison->reason, StandingReason::critical_finding);
}

TEST(Compare, TwiceTheBatchIsComparedByTokens) {
  const osler::Run small = make_run({.seed = 1, .steps = 2000, .tokens_per_step = 500});
  const osler::Run large = make_run({.seed = 2, .steps = 1000, .tokens_per_step = 1000});
  const auto by_itself = compare(small, large);
  ASSERT_TRUE(by_itself);
  EXPECT_EQ(by_itself->axis, Axis::tokens);
  EXPECT_FALSE(series(*by_itself, "train/loss").parting) << "per token they learn alike";
  CompareOptions by_step;
  by_step.axis = Axis::step;
  const auto forced = compare(small, large, by_step);
  ASSERT_TRUE(forced);
  EXPECT_TRUE(series(*forced, "train/loss").parting);
}

TEST(Compare, WhatCannotBeComparedIsSaid) {
  osler::Run other;
  other.name = "other";
  for (int step = 0; step < 50; ++step) other.add(Event{other.series("temperature"), step, kNoTime, 1.0 * step});
  const auto nothing = compare(make_run({.seed = 1}), other);
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, HasSubstr("no series in common"));
  CompareOptions by_tokens;
  by_tokens.axis = Axis::tokens;
  const auto without = compare(make_run({.seed = 1}), make_run({.seed = 2}), by_tokens);
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("tokens"));
}

}  // namespace
}  // namespace osler
