// A step under a monitor of no framework: what is recorded, when, and of broken steps.
#include "monitor/step_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "monitor/held_tensors.h"
#include "monitor/histogram_pace.h"

namespace osler::monitor {
namespace {

Recorder in_memory() {
  auto recorder = Recorder::open({}, {});
  EXPECT_TRUE(recorder);
  return std::move(*recorder);
}

std::vector<ParameterInfo> two_parameters() {
  return {{"fc.weight", {2, 2}, true, true}, {"fc.bias", {2}, true, true}};
}

HeldTensors held() {
  HeldTensors tensors;
  tensors.weights = {{3, 4, 0, 0}, {0, 0}};
  tensors.gradients = {{1, 0, 0, 0}, {0, 1}};
  return tensors;
}

/// The values of a series so far.
std::vector<double> values(StepWatch& watch, const std::string& name) {
  std::vector<double> found;
  watch.recorder().visit([&](const Run& run) {
    if (const Series* series = run.find(name)) {
      for (const Point& point : series->summary().recent()) found.push_back(point.value);
    }
  });
  return found;
}

StepVerdict step(StepWatch& watch, HeldTensors& tensors, double loss = 1) {
  watch.arrive();
  watch.traced(0, 0);
  const StepVerdict verdict = watch.examine(loss, tensors);
  watch.leave();
  return verdict;
}

TEST(StepWatch, RecordsGradientsWeightsAndUpdates) {
  WatchOptions options;
  options.statistics_every = 1;
  HeldTensors tensors = held();
  StepWatch watch(options, in_memory(), two_parameters());
  watch.begin(tensors);
  const StepVerdict verdict = step(watch, tensors);
  EXPECT_TRUE(verdict.finite);
  EXPECT_DOUBLE_EQ(*verdict.norm, std::sqrt(2));
  tensors.weights[0] = {3, 4, 0, 1};  // what an optimizer would do
  step(watch, tensors);
  EXPECT_EQ(values(watch, "weights/fc.weight#norm").front(), 5);
  EXPECT_EQ(values(watch, "gradients/fc.bias#norm").front(), 1);
  EXPECT_NEAR(values(watch, "updates/fc.weight#norm").front(), 1, 1e-6);
  EXPECT_NEAR(values(watch, "updates/fc.weight#ratio").front(), 0.2, 1e-6);
  EXPECT_EQ(values(watch, "updates/fc.bias#norm").front(), 0);
}

TEST(StepWatch, NoRuleForLayersGivesTheSizeOfATable) {
  HeldTensors tensors = held();
  std::vector<ParameterInfo> parameters = two_parameters();
  StepWatch layer({}, in_memory(), parameters);
  layer.begin(tensors);
  EXPECT_EQ(values(layer, "osler/init/scale/fc.weight").size(), 1U);
  parameters[0].table = true;
  StepWatch table({}, in_memory(), parameters);
  table.begin(tensors);
  EXPECT_TRUE(values(table, "osler/init/scale/fc.weight").empty());
  EXPECT_EQ(values(table, "osler/check/parameters-in-table/fc.weight"), std::vector<double>{1});
}

TEST(StepWatch, LooksCloselyAtTheFirstStepsAndThenAsTheBudgetAllows) {
  HeldTensors tensors = held();
  StepWatch watch({}, in_memory(), two_parameters());
  watch.begin(tensors);
  for (int i = 0; i < 50; ++i) step(watch, tensors);
  EXPECT_GE(values(watch, "gradients/fc.weight#norm").size(), 17U);
  EXPECT_GE(values(watch, "osler/check/gradients-carried").size(), 4U);

  WatchOptions none;
  none.budget = 0;
  StepWatch idle(none, in_memory(), two_parameters());
  idle.begin(tensors);
  for (int i = 0; i < 50; ++i) step(idle, tensors);
  EXPECT_TRUE(values(idle, "gradients/fc.weight#norm").empty());
  EXPECT_EQ(values(idle, "train/loss").size(), 50U);
}

/// The histograms of a tensor so far.
std::vector<Histogram> histograms(StepWatch& watch, const std::string& name) {
  std::vector<Histogram> found;
  watch.recorder().visit([&](const Run& run) {
    for (const auto& [id, all] : run.histograms()) {
      if (run.all_series()[id].name() == name) found = all;
    }
  });
  return found;
}

std::vector<std::int64_t> steps_of(const std::vector<Histogram>& histograms) {
  std::vector<std::int64_t> steps;
  for (const Histogram& histogram : histograms) steps.push_back(histogram.step);
  return steps;
}

TEST(StepWatch, TakesHistogramsOfMatricesEverySoManySteps) {
  WatchOptions options;
  options.statistics_every = 1;
  options.histograms_every = 5;
  HeldTensors tensors = held();
  StepWatch watch(options, in_memory(), two_parameters());
  watch.begin(tensors);
  for (int i = 0; i < 12; ++i) step(watch, tensors);
  EXPECT_EQ(steps_of(histograms(watch, "weights/fc.weight")), (std::vector<std::int64_t>{0, 5, 10}));
  EXPECT_EQ(steps_of(histograms(watch, "gradients/fc.weight")), (std::vector<std::int64_t>{0, 5, 10}));
  EXPECT_TRUE(histograms(watch, "weights/fc.bias").empty()) << "two numbers are no distribution";

  options.histograms_every = -1;
  StepWatch never(options, in_memory(), two_parameters());
  never.begin(tensors);
  step(never, tensors);
  EXPECT_TRUE(histograms(never, "weights/fc.weight").empty());
}

TEST(StepWatch, AHistogramHoldsEveryNumberOfTheTensor) {
  WatchOptions options;
  options.statistics_every = 1;
  HeldTensors tensors = held();
  StepWatch watch(options, in_memory(), two_parameters());
  watch.begin(tensors);
  step(watch, tensors);
  const auto taken = histograms(watch, "weights/fc.weight");
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken.front().count, 4);
  EXPECT_EQ(taken.front().max, 4);
  EXPECT_EQ(values(watch, "weights/fc.weight#mean-abs"), std::vector<double>{7.0 / 4});
  EXPECT_EQ(values(watch, "gradients/fc.weight#min"), std::vector<double>{0});
  EXPECT_EQ(std::accumulate(taken.front().counts.begin(), taken.front().counts.end(), 0.0), 4);
}

TEST(HistogramPace, ADozenForEachDoublingOfTheSteps) {
  HistogramPace pace;
  int taken = 0;
  int early = 0;
  for (std::int64_t step = 0; step < 1'000'000; ++step) {
    if (!pace.due(step)) continue;
    pace.took(step);
    ++taken;
    early += step < 400 ? 1 : 0;
  }
  EXPECT_GE(early, 20) << "a ridge plot has two dozen rows";
  EXPECT_LE(taken, 150) << "a run file must stay small";
}

TEST(StepWatch, TellsWhatWasClippedAndTheMeanLossOfAnEpoch) {
  WatchOptions options;
  options.line_every = 2;
  HeldTensors tensors = held();
  StepWatch watch(options, in_memory(), two_parameters());
  watch.begin(tensors);
  std::vector<std::string> lines;
  for (int i = 0; i < 4; ++i) {
    watch.arrive();
    watch.traced(0, 0);
    watch.examine(4.0 - i, tensors);
    watch.tell_state({0.1}, std::nullopt);
    watch.tell_clipping(i == 2 ? 0.5 : 1);
    if (const auto line = watch.take_line()) lines.push_back(*line);
    watch.leave();
  }
  watch.epoch(1);
  EXPECT_EQ(values(watch, "clipped"), (std::vector<double>{0, 0, 1, 0}));
  EXPECT_EQ(values(watch, "osler/clip-factor"), (std::vector<double>{1, 1, 0.5, 1}));
  EXPECT_EQ(values(watch, "train/loss_epoch"), std::vector<double>{2.5});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines.front().substr(0, 14), "step 0  loss 4");
  EXPECT_NE(lines.back().find("[clipped]  clipped 33 %  lr 0.1"), std::string::npos) << lines.back();
}

TEST(StepWatch, SeesABadValueInASmallGradientWhateverTheBudget) {
  WatchOptions options;
  options.budget = 0;
  HeldTensors tensors = held();
  StepWatch watch(options, in_memory(), two_parameters());
  watch.begin(tensors);
  EXPECT_TRUE(step(watch, tensors).finite);
  tensors.gradients[1][0] = std::nanf("");
  const StepVerdict verdict = step(watch, tensors);
  EXPECT_FALSE(verdict.finite);
  EXPECT_EQ(verdict.first_bad, "fc.bias");
  EXPECT_FALSE(step(watch, tensors, std::nan("")).finite);
}

TEST(StepWatch, SeesABadValueInATableWithoutASmallTensorBesideIt) {
  constexpr std::int64_t kWords = 1600;
  WatchOptions options;
  options.budget = 0;
  HeldTensors tensors;
  tensors.weights = {std::vector<float>(4 * kWords, 1), {0, 0}};
  tensors.gradients = {std::vector<float>(4 * kWords, 0), {0, 0}};
  StepWatch watch(options, in_memory(), {{"words.weight", {kWords, 4}, true, true}, {"fc.bias", {2}, true, true}});
  watch.begin(tensors);
  EXPECT_TRUE(step(watch, tensors).finite);
  tensors.gradients[0][5000] = std::nanf("");
  const StepVerdict verdict = step(watch, tensors);
  EXPECT_FALSE(verdict.finite);
  EXPECT_EQ(verdict.first_bad, "words.weight");
}

TEST(StepWatch, TellsWhichParametersNobodyTrains) {
  HeldTensors tensors = held();
  StepWatch watch({}, in_memory(), two_parameters());
  watch.begin(tensors);
  watch.tell_parameters({true, true}, {true, false});
  for (int i = 0; i < 20; ++i) step(watch, tensors);
  EXPECT_TRUE(values(watch, "osler/check/parameters-not-optimized").empty());  // someone else may, for all one knows
  watch.tell_parameters({true, true}, {true, false});
  watch.tell_parameters({true, true}, {true, false});
  EXPECT_EQ(values(watch, "osler/check/parameters-not-optimized"), std::vector<double>{1});
  EXPECT_EQ(values(watch, "osler/check/parameters-not-optimized/fc.bias"), std::vector<double>{1});
  EXPECT_TRUE(values(watch, "osler/check/parameters-not-optimized/fc.weight").empty());
  step(watch, tensors);
  watch.tell_parameters({true, true}, {true, true});  // a group was added
  EXPECT_EQ(values(watch, "osler/check/parameters-not-optimized"), (std::vector<double>{1, 0}));
}

TEST(StepWatch, ParametersThatAnOptimizerOfWhichItKnowsNothingTrainsAreNotLeftOut) {
  HeldTensors tensors = held();
  StepWatch watch({}, in_memory(), two_parameters());
  watch.begin(tensors);
  for (int i = 0; i < 20; ++i) {
    step(watch, tensors);
    tensors.weights[1][0] += 0.1F;
  }
  watch.tell_parameters({true, true}, {true, false});
  EXPECT_EQ(values(watch, "osler/check/parameters-not-optimized"), std::vector<double>{0});
}

TEST(StepWatch, TellsAParameterWithoutAGradientByItsNormOfZero) {
  HeldTensors tensors = held();
  tensors.gradients[0].clear();
  StepWatch watch({}, in_memory(), two_parameters());
  watch.begin(tensors);
  step(watch, tensors);
  EXPECT_EQ(values(watch, "gradients/fc.weight#norm"), std::vector<double>{0});
}

TEST(StepWatch, TellsNoGradientOfAParameterThatIsFrozen) {
  HeldTensors tensors = held();
  StepWatch watch({}, in_memory(), two_parameters());
  watch.begin(tensors);
  watch.tell_parameters({false, true}, {true, true});
  step(watch, tensors);
  EXPECT_TRUE(values(watch, "gradients/fc.weight#norm").empty());
  EXPECT_EQ(values(watch, "gradients/fc.bias#norm").size(), 1U);
}

TEST(StepWatch, HoldsTheStartOfWeightsAgainstHeButNotThatOfOtherTables) {
  HeldTensors tensors;
  tensors.weights = {{1, 1, 1, 1}, {1, 1, 1, 1}};
  tensors.gradients = {{0, 0, 0, 0}, {0, 0, 0, 0}};
  StepWatch watch({}, in_memory(), {{"fc.weight", {2, 2}, true, true}, {"positions", {2, 2}, true, true}});
  watch.begin(tensors);
  EXPECT_EQ(values(watch, "osler/init/scale/fc.weight"), std::vector<double>{1});  // He asks for sqrt(2 / 2)
  EXPECT_TRUE(values(watch, "osler/init/scale/positions").empty());
}

/// What is told during so many steps, with the number of the step at which it is.
std::vector<std::pair<int, std::string>> told_during(StepWatch& watch, HeldTensors& tensors, int steps,
                                                     int validated_at = -1) {
  std::vector<std::pair<int, std::string>> told;
  const auto keep = [&](int i, const std::vector<Observation>& news) {
    for (const Observation& each : news) told.emplace_back(i, each.finding);
  };
  for (int i = 0; i < steps; ++i) {
    watch.arrive();
    watch.tell_parameters({true, true}, {true, false});
    watch.traced(0, 0);
    watch.examine(2.0 / (1 + i), tensors);
    tensors.weights[0][0] += 0.01F;
    keep(i, watch.news());
    watch.leave();
    if (i != validated_at) continue;
    watch.validation("validation/loss", 1);
    keep(i, watch.news_of_validation());
  }
  return told;
}

TEST(StepWatch, TellsWithin50StepsWhatIsKnownThen) {
  HeldTensors tensors = held();
  StepWatch watch({}, in_memory(), two_parameters());
  watch.begin(tensors);
  const auto told = told_during(watch, tensors, 110);
  const std::pair<int, std::string> left_out{49, "parameters-not-optimized"};
  EXPECT_NE(std::find(told.begin(), told.end(), left_out), told.end());
  EXPECT_GT(watch.early_seconds(), 0);
  EXPECT_LE(watch.early_seconds(), 2.5) << "the first looks have a bound";
}

TEST(StepWatch, TellsAfterTheFirstValidationAndNotAfterTheNext) {
  HeldTensors tensors = held();
  StepWatch watch({}, in_memory(), two_parameters());
  watch.begin(tensors);
  const auto told = told_during(watch, tensors, 40, 30);
  const std::pair<int, std::string> left_out{30, "parameters-not-optimized"};
  EXPECT_NE(std::find(told.begin(), told.end(), left_out), told.end());
  const double spent = watch.early_seconds();
  watch.validation("validation/loss", 1);
  EXPECT_TRUE(watch.news_of_validation().empty());
  EXPECT_EQ(watch.early_seconds(), spent) << "nothing was asked a second time";
}

TEST(StepWatch, TellsNothingEarlyWhereTheUserHasSaidWhenOrThatNothingIsToBeSpent) {
  for (const bool by_steps : {true, false}) {
    WatchOptions options;
    if (by_steps) options.diagnose_every = -1;
    if (!by_steps) options.budget = 0;
    HeldTensors tensors = held();
    StepWatch watch(options, in_memory(), two_parameters());
    watch.begin(tensors);
    EXPECT_TRUE(told_during(watch, tensors, 110, 60).empty());
  }
}

TEST(Spending, TheFirstLooksStopWhenTheyHaveTakenTwoSecondsOrTenSteps) {
  Budget batches(0.004);
  Spending spending(0.02, batches);
  EXPECT_TRUE(spending.early());
  spending.spend(spending.statistics, 1.9);
  EXPECT_TRUE(spending.early_left());
  spending.spend(spending.statistics, 0.2);
  EXPECT_FALSE(spending.early());
  spending.at_step(3);
  spending.trained(3);  // a second for each step: ten are 1 % of a thousand
  EXPECT_TRUE(spending.early());
  spending.spend(spending.trace, 8);
  EXPECT_FALSE(spending.early_left());
  EXPECT_DOUBLE_EQ(spending.early_spent(), 10.1);
}

/// How many of 4,000 steps afford a look of a tenth of a millisecond, when every step takes a millisecond of work and
/// every second one `held_up` seconds more.
int looks(double held_up, bool at_work) {
  Budget batches(0.004);
  Spending spending(0.02, batches);
  spending.at_step(Spending::kFirstSteps);
  int looks = 0;
  for (int i = 0; i < 4000; ++i) {
    const double seconds = 1e-3 + (i % 2 == 0 ? 0 : held_up);
    if (spending.statistics.affords()) {
      spending.spend(spending.statistics, 1e-4);
      ++looks;
    }
    spending.earn(seconds, at_work ? seconds : 1e-3);
  }
  return looks;
}

TEST(Spending, AStepThatOthersHoldUpEarnsNoMoreThanUsual) {
  const int undisturbed = looks(0, false);
  EXPECT_GT(undisturbed, 50);
  EXPECT_LT(looks(9e-3, false), 1.5 * undisturbed);
  EXPECT_GT(looks(9e-3, true), 2 * undisturbed) << "a step that works longer earns more";
}

TEST(Spending, APauseIsFollowedByNoBurst) {
  Budget batches(0.004);
  Spending spending(0.02, batches);
  spending.at_step(Spending::kFirstSteps);
  int burst = 0;
  for (int i = 0; i < 2000; ++i) {
    const double seconds = i == 1000 ? 10 : 1e-3;
    while (spending.statistics.affords() && burst < 1000) {
      spending.spend(spending.statistics, 1e-4);
      if (i >= 1000 && i < 1010) ++burst;
    }
    spending.earn(seconds, seconds);
  }
  EXPECT_LE(burst, 1) << "ten steps do not pay for more";
}

TEST(StepWatch, WhatItKeepsTheTrainingFromIsItsOwnTime) {
  HeldTensors tensors = held();
  StepWatch watch({}, in_memory(), two_parameters());
  watch.begin(tensors);
  watch.used(1000);  // seconds, so that the clock does not matter
  watch.arrive();
  watch.traced(0, 0);
  watch.examine(1, tensors);
  watch.leave();
  EXPECT_GE(watch.own_seconds(), 1000);
  EXPECT_EQ(values(watch, "step_time"), std::vector<double>{0});
}

TEST(StepWatch, HasNewsWhereALineOrADiagnosisIsDue) {
  WatchOptions options;
  options.diagnose_every = 3;
  options.line_every = 100;
  HeldTensors tensors = held();
  StepWatch watch(options, in_memory(), two_parameters());
  watch.begin(tensors);
  step(watch, tensors);
  EXPECT_TRUE(watch.has_news(/*findings=*/false)) << "the line of the first step";
  EXPECT_TRUE(watch.take_line());
  EXPECT_FALSE(watch.has_news(/*findings=*/true));
  step(watch, tensors);
  EXPECT_TRUE(watch.has_news(/*findings=*/true));
  EXPECT_FALSE(watch.has_news(/*findings=*/false));
}

TEST(StepWatch, RefusesOptionsThatMakeNoSense) {
  WatchOptions options;
  EXPECT_EQ(fault_of(options), "");
  options.budget = -1;
  EXPECT_NE(fault_of(options), "");
  options = {};
  options.classes = 1;
  EXPECT_NE(fault_of(options), "");
  options = {};
  options.trace_every = -2;
  EXPECT_NE(fault_of(options), "");
  options = {};
  options.histograms_every = -2;
  EXPECT_NE(fault_of(options), "");
  options = {};
  options.line_every = -1;
  EXPECT_NE(fault_of(options), "");
}

}  // namespace
}  // namespace osler::monitor
