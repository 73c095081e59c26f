// What clipping-always and clipping-never say of norms beside their limit.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

/// Norms scattered by a factor of about 1.3 around `median`.
Values norms(double median, std::uint32_t seed = 1) {
  Noise noise(seed);
  return curve(200, [&](double) { return median * std::exp(0.3 * noise.normal()); });
}

Run run_with(const Values& norm, const Values& loss) {
  osler::Run run;
  record(run, "loss", loss);
  record(run, "grad_norm", norm);
  return run;
}

Values stuck() {
  return noisy(200, 0.02, 2, [](double) { return 2.3; });
}

TEST(ClippingAlways, NormsFarAboveTheLimitWithAStuckLossAreAWarning) {
  for (const double limit : {0.1, 1.0, 1e4}) {
    osler::Run run = run_with(norms(15 * limit), stuck());
    run.config("max_grad_norm", std::to_string(limit));
    const Verdict verdict = verdict_of("clipping-always", run);
    EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  }
}

TEST(ClippingAlways, WhileTheLossFallsItIsANote) {
  osler::Run run = run_with(norms(15), noisy(200, 0.02, 3, descent));
  run.config("clip_grad_norm", "1.0");
  EXPECT_TRUE(found(verdict_of("clipping-always", run), Severity::note));
}

TEST(ClippingAlways, NormsLoggedAfterClippingShowTheLimitThemselves) {
  Values clipped = norms(8);
  for (double& norm : clipped) norm = std::min(norm, 0.5);
  const Verdict verdict = verdict_of("clipping-always", run_with(clipped, stuck()));
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).qualifiers.at("limit"), "0.5");
}

TEST(ClippingAlways, ALimitLoggedAsASeriesIsNoNorm) {
  osler::Run run;
  record(run, "loss", stuck());
  record(run, "max_grad_norm", Values(200, 1.0));
  record(run, "grad_norm", norms(0.3));
  EXPECT_TRUE(absent(verdict_of("clipping-always", run)));
}

TEST(ClippingAlways, ClippingNowAndThenIsWhatItIsFor) {
  osler::Run run = run_with(norms(0.7), stuck());
  run.config("gradient_clip_val", "1");
  EXPECT_TRUE(absent(verdict_of("clipping-always", run)));
}

TEST(ClippingAlways, ClippingOnHalfOfTheStepsIsANote) {
  osler::Run run = run_with(norms(1.1), stuck());
  run.config("max_grad_norm", "1");
  EXPECT_TRUE(found(verdict_of("clipping-always", run), Severity::note));
}

TEST(ClippingAlways, ThePolicysClipRangeIsNoLimitOfGradients) {
  osler::Run run = run_with(norms(15), stuck());
  record(run, "reward", noisy(200, 0.1, 4, [](double) { return 5.0; }));
  run.config("clip", "0.2");
  EXPECT_TRUE(unchecked(verdict_of("clipping-always", run)));
}

TEST(ClippingAlways, WithoutALimitItIsNotChecked) {
  EXPECT_TRUE(unchecked(verdict_of("clipping-always", run_with(norms(15), stuck()))));
}

TEST(ClippingNever, ALimitFarAboveEveryNormIsANote) {
  for (const double limit : {1.0, 1e4}) {
    osler::Run run = run_with(norms(0.02 * limit), stuck());
    run.config("max_grad_norm", std::to_string(limit));
    EXPECT_TRUE(found(verdict_of("clipping-never", run), Severity::note));
  }
}

TEST(ClippingNever, OneNormNearTheLimitIsEnoughForIt) {
  Values few = norms(0.02);
  few[100] = 0.4;
  osler::Run run = run_with(few, stuck());
  run.config("max_grad_norm", "1");
  EXPECT_TRUE(absent(verdict_of("clipping-never", run)));
}

TEST(ClippingNever, WithClippingOffThereIsNothingToSay) {
  osler::Run run = run_with(norms(0.02), stuck());
  run.config("max_grad_norm", "0");
  EXPECT_TRUE(unchecked(verdict_of("clipping-never", run)));
}

TEST(ClippingAlways, TheLogsOwnCountIsTaken) {
  osler::Run run = run_with(norms(5), stuck());
  record(run, "clip_freq", curve(200, [](double x) { return 90 + 9 * x; }));
  const Verdict verdict = verdict_of("clipping-always", run);
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).evidence.front().series, "clip_freq");
  EXPECT_NEAR(std::get<Observation>(verdict).evidence.front().observed, 0.99, 1e-9);
}

TEST(ClippingAlways, MarksOnStepsAreCounted) {
  osler::Run run = run_with(norms(5), stuck());
  Values marks(200, 1.0);
  for (std::size_t i = 0; i < marks.size(); i += 10) marks[i] = 0;
  record(run, "clipped", marks);
  const Verdict verdict = verdict_of("clipping-always", run);
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_NEAR(std::get<Observation>(verdict).evidence.front().observed, 0.9, 1e-9);
}

TEST(ClippingAlways, AFewMarksAmongManyStepsAreWhatClippingIsFor) {
  osler::Run run = run_with(norms(0.5), stuck());
  record(run, "clipped", Values(20, 1.0), {.first = 100, .stride = 5});
  EXPECT_TRUE(absent(verdict_of("clipping-always", run)));
}

TEST(ClippingNever, StepsThatTheLogCallsClippedWereClipped) {
  osler::Run run = run_with(norms(0.01), stuck());
  run.config("max_grad_norm", "1");
  EXPECT_TRUE(found(verdict_of("clipping-never", run), Severity::note));
  record(run, "clip_freq", Values(200, 35.0));
  EXPECT_TRUE(absent(verdict_of("clipping-never", run)));
}

}  // namespace
}  // namespace osler::sample
