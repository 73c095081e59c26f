// What sound programs under a monitor showed, and what no finding may call a fault.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

/// Norms that swing by a factor of three to either side, with a period.
Values swinging() {
  Noise noise(3);
  Values values(400);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / 25;
    values[i] = 0.4 * std::exp(1.3 * std::sin(turn) + 0.2 * noise.normal());
  }
  return values;
}

TEST(GradientNormOscillating, AtTheFloorOfARunThatHasLearnedIsANote) {
  const auto falls_to = [](double floor) {
    osler::Run run;
    // Down within the first twentieth: the rest of the run does not improve any more.
    record(run, "train/loss", noisy(400, 0.2, 1, [=](double x) { return floor + std::exp(-60 * x); }));
    record(run, "grad_norm", swinging());
    return verdict_of("gradient-norm-oscillating", run);
  };
  EXPECT_TRUE(found(falls_to(0.004), Severity::note)) << in_words(falls_to(0.004));
}

TEST(GradientNormOscillating, WhereNothingIsLearnedIsAWarning) {
  osler::Run run;
  record(run, "train/loss", noisy(400, 0.1, 1, [](double) { return 2.3; }));
  record(run, "grad_norm", swinging());
  EXPECT_TRUE(found(verdict_of("gradient-norm-oscillating", run), Severity::warning));
}

TEST(GradientNormOscillating, WhereLossesTakeTurnsSoDoTheirNorms) {
  osler::Run run;
  record(run, "train/loss", noisy(400, 0.1, 1, [](double) { return 2.3; }));
  record(run, "grad_norm", swinging());
  run.config("osler.losses", "in turns");
  EXPECT_TRUE(unchecked(verdict_of("gradient-norm-oscillating", run)));
}

/// Validated eight times, or more often; the loss has turned, and the answers are as right as `accuracy`.
Run turned(std::size_t evaluations, double accuracy) {
  const auto stride = static_cast<std::int64_t>(400 / evaluations);
  osler::Run run;
  record(run, "train/loss", noisy(400, 0.2, 1, [](double x) { return 1.4 * std::exp(-6 * x) + 0.002; }));
  record(run, "validation/loss",
         curve(evaluations, [](double x) { return x < 0.5 ? 0.11 - 0.2 * x : 0.01 + 0.35 * (x - 0.5); }),
         {stride - 1, stride});
  record(run, "validation/accuracy",
         curve(evaluations, [=](double x) { return x < 0.5 ? 1 : 1 - 2 * (1 - accuracy) * (x - 0.5); }),
         {stride - 1, stride});
  return run;
}

TEST(Overfitting, AHandfulOfEvaluationsOfAModelThatIsNearlyAlwaysRightIsNoTrend) {
  EXPECT_TRUE(no_alarm(verdict_of("overfitting", turned(8, 0.97))));
  EXPECT_FALSE(no_alarm(verdict_of("overfitting", turned(8, 0.7))));
  EXPECT_FALSE(no_alarm(verdict_of("overfitting", turned(20, 0.97))));
}

TEST(LateLossVariance, OfFewPointsChanceIsLarge) {
  constexpr std::uint32_t kRuns = 400;
  int alarms = 0;
  for (std::uint32_t seed = 1; seed <= kRuns; ++seed) {
    osler::Run run;
    Noise noise(seed);
    record(run, "train/loss", curve(50, [&](double) { return std::exp(0.3 * noise.normal()); }));
    alarms += no_alarm(verdict_of("late-loss-variance", run)) ? 0 : 1;
  }
  EXPECT_LE(alarms, 1);
}

TEST(ExplodingGradients, APlayersAreAsLargeAsTheOtherOneMakesThem) {
  const auto grown = [](bool game, double most) {
    osler::Run run;
    if (game) run.config("osler.networks", "trained in turns");
    record(run, "train/loss", noisy(400, 0.1, 1, [](double) { return 1.2; }));
    record(run, "grad_norm", noisy(400, 0.1, 2, [=](double x) { return 0.1 * std::pow(most / 0.1, x * x); }));
    return verdict_of("exploding-gradients", run);
  };
  EXPECT_FALSE(no_alarm(grown(false, 8)));
  EXPECT_TRUE(no_alarm(grown(true, 8)));
  EXPECT_FALSE(no_alarm(grown(true, 1e5)));
}

}  // namespace
}  // namespace osler::sample
