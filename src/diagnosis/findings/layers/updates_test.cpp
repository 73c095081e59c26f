// What updates-too-small and updates-too-large say of update-to-weight ratios.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

Values around(double level, std::uint32_t seed) {
  Noise noise(seed);
  return curve(40, [&](double) { return level * std::exp(0.3 * noise.normal()); });
}

Run with_ratios(const std::vector<double>& ratios, bool learns) {
  osler::Run run;
  record(run, "loss", learns ? noisy(40, 0.02, 1, descent) : noisy(40, 0.02, 1, [](double) { return 2.3; }));
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    record(run, "update_ratio/layer" + std::to_string(i), around(ratios[i], static_cast<std::uint32_t>(i + 2)));
  }
  return run;
}

TEST(UpdatesTooSmall, EverywhereWithAStuckLossIsAWarning) {
  const Verdict verdict = verdict_of("updates-too-small", with_ratios({1e-7, 3e-7, 1e-6}, false));
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).layers.size(), 3U);
}

TEST(UpdatesTooSmall, WhileTheLossFallsItIsANote) {
  EXPECT_TRUE(found(verdict_of("updates-too-small", with_ratios({1e-7, 3e-7, 1e-6}, true)), Severity::note));
}

TEST(UpdatesTooSmall, HealthyRatiosAndADecayedScheduleAreFine) {
  EXPECT_TRUE(absent(verdict_of("updates-too-small", with_ratios({1e-3, 1e-4, 3e-3}, false))));
  osler::Run run;
  record(run, "update_ratio/fc", curve(40, [](double x) { return 1e-3 * std::max(1e-6, 1 - 1.2 * x); }));
  EXPECT_TRUE(absent(verdict_of("updates-too-small", run)));
}

TEST(UpdatesTooSmall, RatiosAreMadeFromUpdatesAndWeights) {
  osler::Run run;
  record(run, "loss", noisy(40, 0.02, 1, [](double) { return 2.3; }));
  record(run, "updates/fc1", around(1e-6, 3));
  record(run, "weights/fc1", around(10, 4));
  EXPECT_TRUE(found(verdict_of("updates-too-small", run), Severity::warning));
}

TEST(UpdatesTooSmall, LogarithmsOfRatiosAreUnderstood) {
  osler::Run run;
  record(run, "loss", noisy(40, 0.02, 1, [](double) { return 2.3; }));
  record(run, "update_ratio/fc1", noisy(40, 0.01, 2, [](double) { return -3.0; }));
  EXPECT_TRUE(absent(verdict_of("updates-too-small", run)));
  record(run, "update_ratio/fc2", noisy(40, 0.01, 2, [](double) { return -7.0; }));
  EXPECT_FALSE(absent(verdict_of("updates-too-small", run)));
}

TEST(UpdatesTooLarge, RewritingTheWeightsAtEachStepIsAWarning) {
  EXPECT_TRUE(found(verdict_of("updates-too-large", with_ratios({0.5, 0.3, 1e-3}, false)), Severity::warning));
}

TEST(UpdatesTooLarge, OneSuchLayerInARunThatLearnsIsANote) {
  EXPECT_TRUE(found(verdict_of("updates-too-large", with_ratios({0.5, 1e-3, 1e-3}, true)), Severity::note));
}

TEST(UpdatesTooLarge, LargeFirstStepsOfALayerThatStartsAtZeroAreHealthy) {
  osler::Run run;
  record(run, "update_ratio/lora_b", curve(60, [](double x) { return 0.5 * std::exp(-20 * x) + 1e-3; }));
  EXPECT_TRUE(absent(verdict_of("updates-too-large", run)));
}

TEST(UpdatesTooLarge, LbfgsSearchesAlongLines) {
  osler::Run run = with_ratios({0.4, 0.3, 0.2}, true);
  EXPECT_TRUE(found(verdict_of("updates-too-large", run), Severity::warning));
  run.config("optimizer", "LBFGS");
  EXPECT_TRUE(found(verdict_of("updates-too-large", run), Severity::note));
  osler::Run stuck = with_ratios({0.4, 0.3, 0.2}, false);
  stuck.config("optimizer", "LBFGS");
  EXPECT_TRUE(found(verdict_of("updates-too-large", stuck), Severity::warning));
}

TEST(UpdatesTooLarge, BesideSgdAHighRateMayBeIts) {
  osler::Run run;
  record(run, "loss", noisy(40, 0.02, 1, [](double) { return 2.3; }));
  record(run, "lr/group0", curve(40, [](double) { return 0.2; }));
  record(run, "lr/group1", curve(40, [](double) { return 1e-3; }));
  run.config("optimizer", "AdamW");
  EXPECT_TRUE(found(verdict_of("updates-too-large", run), Severity::warning));
  run.config("optimizer", "SGD, AdamW");
  EXPECT_FALSE(found(verdict_of("updates-too-large", run), Severity::warning));
}

TEST(Updates, WithoutThemNothingIsChecked) {
  osler::Run run;
  record(run, "weights/fc1", around(10, 4));
  EXPECT_TRUE(unchecked(verdict_of("updates-too-large", run)));
  EXPECT_TRUE(unchecked(verdict_of("updates-too-small", run)));
}

}  // namespace
}  // namespace osler::sample
