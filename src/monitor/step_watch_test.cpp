// A step under a monitor of no framework: what is recorded, when, and of broken steps.
#include "monitor/step_watch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "monitor/held_tensors.h"

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
}

}  // namespace
}  // namespace osler::monitor
