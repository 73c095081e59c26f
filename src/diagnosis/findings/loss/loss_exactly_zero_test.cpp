// What loss-exactly-zero says of losses that are 0 from the start, suddenly, or in the end.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"
#include "osler/diagnosis/diagnose.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "loss-exactly-zero";

Run with_loss(const Values& loss) {
  osler::Run run;
  record(run, "train/loss", loss);
  return run;
}

TEST(LossExactlyZero, ZeroFromTheFirstStepIsCritical) {
  EXPECT_TRUE(found(verdict_of(kId, with_loss(Values(30, 0.0))), Severity::critical));
  EXPECT_TRUE(found(verdict_of(kId, with_loss(Values(100000, 0.0))), Severity::critical));
}

TEST(LossExactlyZero, ASuddenZeroThatStaysIsCritical) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    Values loss = times(noisy(100, 0.02, 1, descent), scale);
    for (std::size_t i = 60; i < loss.size(); ++i) loss[i] = 0;
    const Verdict verdict = verdict_of(kId, with_loss(loss));
    ASSERT_TRUE(found(verdict, Severity::critical)) << in_words(verdict);
    EXPECT_EQ(std::get<Observation>(verdict).first_step, 60);
  }
}

TEST(LossExactlyZero, ALossThatCameDownAndWasRoundedIsHealthy) {
  Values loss = curve(100, [](double x) { return 2.3 * std::exp(-20 * x); });
  for (double& value : loss) value = std::round(value * 1e4) / 1e4;
  EXPECT_EQ(loss.back(), 0);
  EXPECT_TRUE(absent(verdict_of(kId, with_loss(loss))));
}

TEST(LossExactlyZero, SingleZerosAreHealthy) {
  Values loss = noisy(100, 0.1, 2, descent);
  for (std::size_t i = 10; i < loss.size(); i += 9) loss[i] = 0;
  EXPECT_TRUE(absent(verdict_of(kId, with_loss(loss))));
}

TEST(LossExactlyZero, APolicyLossOfZeroIsByConstruction) {
  osler::Run run = with_loss(Values(50, 0.0));
  record(run, "reward", noisy(50, 0.1, 3, [](double x) { return 1 + x; }));
  DiagnosisOptions options;
  options.only = {std::string(kId)};
  const Result<Report> report = diagnose(run, options);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->checks_ran.empty()) << "the run is judged by its reward";
  EXPECT_TRUE(report->findings.empty());
}

TEST(LossExactlyZero, APartOfALossMayBeZero) {
  osler::Run run;
  record(run, "train/cls_loss", Values(50, 0.0));
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
  record(run, "train/box_loss", noisy(50, 0.02, 4, descent));
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(LossExactlyZero, ThreeZerosAreTooFew) {
  EXPECT_TRUE(unchecked(verdict_of(kId, with_loss(Values(3, 0.0)))));
}

}  // namespace
}  // namespace osler::sample
