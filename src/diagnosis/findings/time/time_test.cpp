// What step-time-cliff and training-stalled say of the pace of a run, and run-crashed of its end.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

Verdict cliff(const std::string& name, const Values& values) {
  osler::Run run;
  record(run, name, values, {.stride = 10});
  return verdict_of("step-time-cliff", run);
}

Values slower_from(double at, double factor, double seconds = 0.2) {
  return noisy(200, 0.08, 1, [=](double x) { return seconds * (x > at ? factor : 1.0); });
}

TEST(StepTimeCliff, SeveralTimesSlowerForGoodIsAWarning) {
  const Verdict verdict = cliff("step_time", slower_from(0.6, 5));
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_NEAR(static_cast<double>(std::get<Observation>(verdict).first_step), 1200, 30);
}

TEST(StepTimeCliff, TwiceAsSlowIsANote) {
  EXPECT_TRUE(found(cliff("step_time", slower_from(0.6, 2.5)), Severity::note));
}

TEST(StepTimeCliff, ThroughputCountsTheOtherWayRound) {
  EXPECT_TRUE(found(cliff("throughput", slower_from(0.4, 0.2, 1000)), Severity::warning));
  EXPECT_TRUE(absent(cliff("throughput", slower_from(0.4, 5, 1000))));
}

TEST(StepTimeCliff, SlowFirstStepsAndSingleSlowOnesAreHealthy) {
  Values seconds = slower_from(2, 1);
  for (std::size_t i = 0; i < 6; ++i) seconds[i] = 30;
  for (std::size_t i = 20; i < seconds.size(); i += 20) seconds[i] = 8;
  EXPECT_TRUE(absent(cliff("step_time", seconds)));
}

TEST(StepTimeCliff, TimesThatScatterWidelyAreHealthy) {
  Noise noise(2);
  EXPECT_TRUE(absent(cliff("step_time", curve(200, [&](double) { return std::exp(0.8 * noise.normal()); }))));
}

TEST(StepTimeCliff, TimeSinceTheStartIsNoStepTime) {
  EXPECT_TRUE(unchecked(cliff("time", curve(100, [](double x) { return 1 + 600 * x * x; }))));
}

TEST(StepTimeCliff, TheClockOfTheLogGivesANote) {
  osler::Run run;
  const SeriesId loss = run.series("loss");
  double now = 1.7e9;
  for (int i = 0; i < 200; ++i) {
    now += i < 120 ? 1 : 6;
    run.add(Event{loss, i * 10, now, descent(i / 200.0)});
  }
  EXPECT_TRUE(found(verdict_of("step-time-cliff", run), Severity::note));
}

TEST(StepTimeCliff, WithoutAnyTimeItIsNotChecked) {
  EXPECT_TRUE(unchecked(cliff("loss", curve(100, descent))));
}

Run timed(double seconds_per_step) {
  osler::Run run;
  record(run, "loss", curve(100, descent), {.start_time = 1.7e9, .seconds_per_step = seconds_per_step});
  return run;
}

TEST(RunCrashed, SaysOfACollectiveWhatTheLogSays) {
  const auto told = [](const std::string& line) {
    osler::Run run;
    record(run, "loss", noisy(100, 0.02, 1, [](double x) { return 2 - x; }), {.stride = 1});
    run.add(Mark{Mark::Kind::crashed, 99, kNoTime, "nccl-timeout: " + line});
    const Verdict verdict = verdict_of("run-crashed", run);
    EXPECT_TRUE(found(verdict, Severity::critical)) << in_words(verdict);
    return in_words(verdict);
  };
  EXPECT_NE(told("Watchdog caught collective operation timeout").find("operation that timed out"), std::string::npos);
  EXPECT_NE(told("DistBackendError: NCCL error, unhandled cuda error").find("operation that failed"),
            std::string::npos);
}

TEST(TrainingStalled, ALogThatStoppedGrowingIsAWarning) {
  const Verdict verdict = verdict_of("training-stalled", timed(3), 1.7e9 + 99 * 3 + 1500);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(TrainingStalled, WaitingForTheNextValueIsHealthy) {
  EXPECT_TRUE(absent(verdict_of("training-stalled", timed(3), 1.7e9 + 99 * 3 + 20)));
  EXPECT_TRUE(absent(verdict_of("training-stalled", timed(600), 1.7e9 + 99 * 600 + 1500)));
}

TEST(TrainingStalled, ARunThatFinishedIsNotStalled) {
  osler::Run run = timed(3);
  run.add(Mark{Mark::Kind::finished, 99, kNoTime, "done"});
  EXPECT_TRUE(absent(verdict_of("training-stalled", run, 1.7e9 + 1e6)));
}

TEST(TrainingStalled, ALongPauseInAFinishedLogIsANote) {
  osler::Run run;
  const SeriesId loss = run.series("loss");
  for (int i = 0; i < 100; ++i) run.add(Event{loss, i, 1.7e9 + i * 2.0 + (i < 40 ? 0 : 7200), descent(i / 100.0)});
  const Verdict verdict = verdict_of("training-stalled", run);
  ASSERT_TRUE(found(verdict, Severity::note)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).first_step, 39);
}

TEST(TrainingStalled, OtherwiseAFinishedLogIsNotChecked) {
  EXPECT_TRUE(unchecked(verdict_of("training-stalled", timed(3))));
  osler::Run run;
  record(run, "loss", curve(100, descent));
  EXPECT_TRUE(unchecked(verdict_of("training-stalled", run, 1.7e9)));
}

}  // namespace
}  // namespace osler::sample
