// What learning-rate-zero says of rates that are, or look, exactly 0.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "learning-rate-zero";

Verdict with(const Values& rate, const Values& loss) {
  osler::Run run;
  record(run, "loss", loss);
  record(run, "lr", rate);
  return verdict_of(kId, run);
}

TEST(LearningRateZero, ZeroThroughoutWithAStandingLossIsCritical) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    const Verdict verdict = with(Values(60, 0.0), times(noisy(60, 0.02, 1, [](double) { return 2.3; }), scale));
    EXPECT_TRUE(found(verdict, Severity::critical)) << in_words(verdict);
  }
}

TEST(LearningRateZero, ZeroInMoreThanHalfOfTheRunIsCritical) {
  const Values rate = curve(100, [](double x) { return x < 0.3 ? 1e-3 * (1 - x / 0.3) : 0.0; });
  const Values loss = noisy(100, 0.01, 2, [](double x) { return x < 0.3 ? 2.3 - 2 * x : 1.7; });
  const Verdict verdict = with(rate, loss);
  EXPECT_TRUE(found(verdict, Severity::critical)) << in_words(verdict);
  EXPECT_NEAR(static_cast<double>(std::get<Observation>(verdict).first_step), 30, 2);
}

TEST(LearningRateZero, ALossThatFallsShowsThatTheZerosAreRounded) {
  const Verdict verdict = with(Values(100, 0.0), noisy(100, 0.02, 3, descent));
  EXPECT_TRUE(absent(verdict)) << in_words(verdict);
}

TEST(LearningRateZero, ZeroAtTheEndOfAScheduleIsHealthy) {
  const Verdict verdict = with(curve(100, [](double x) { return x < 0.9 ? 1e-3 * (0.9 - x) : 0.0; }),
                               noisy(100, 0.02, 4, [](double) { return 1.0; }));
  EXPECT_TRUE(absent(verdict)) << in_words(verdict);
}

TEST(LearningRateZero, OneFrozenGroupIsByDesign) {
  osler::Run run;
  record(run, "loss", Values(50, 1.0));
  record(run, "lr/group_0", Values(50, 0.0));
  record(run, "lr/group_1", Values(50, 1e-3));
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(LearningRateZero, WithoutALossItIsOnlyANote) {
  osler::Run run;
  record(run, "lr", Values(50, 0.0));
  EXPECT_TRUE(found(verdict_of(kId, run), Severity::note));
}

TEST(LearningRateZero, WithoutARateItIsNotChecked) {
  osler::Run run;
  record(run, "loss", Values(50, 1.0));
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
}

}  // namespace
}  // namespace osler::sample
