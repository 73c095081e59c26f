// When a training is ended, and when it is left alone.
#include "osler/diagnosis/stop_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

namespace osler {
namespace {

using ::testing::HasSubstr;

osler::Run run_with(const std::string& name, int points, const std::function<double(int)>& value) {
  osler::Run run;
  for (int step = 0; step < points; ++step) run.add(Event{run.series(name), step, kNoTime, value(step)});
  return run;
}

/// A loss that falls for twenty steps and then runs away.
osler::Run run_of(int points) {
  return run_with("loss", points,
                  [](int step) { return step < 20 ? 2 * std::exp(-step / 8.0) : 5 + 0.01 * (step % 7); });
}

Report report_of(double confidence, Severity severity = Severity::critical) {
  Report report;
  report.status = severity == Severity::critical ? Status::critical : Status::warning;
  report.roles["train-loss"] = {"loss"};
  Observation finding;
  finding.finding = "loss-diverging";
  finding.severity = severity;
  finding.confidence = confidence;
  finding.first_step = 20;
  finding.summary = "loss climbs.";
  report.findings = {finding};
  return report;
}

TEST(StopRule, EndsATrainingOnceLaterDataConfirmTheFinding) {
  StopJudge judge({});
  EXPECT_FALSE(judge.look(report_of(0.95), run_of(40)));
  EXPECT_FALSE(judge.look(report_of(0.95), run_of(40))) << "a second look at the same data confirms nothing";
  EXPECT_FALSE(judge.look(report_of(0.95), run_of(43)));
  const auto reason = judge.look(report_of(0.95), run_of(44));
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->first_points, 40);
  EXPECT_EQ(reason->points, 44);
  EXPECT_THAT(to_line(*reason), HasSubstr("loss-diverging (critical, 95 % sure) since step 20, first seen at 40 points "
                                          "of loss and still there at 44: loss climbs."));
}

TEST(StopRule, WantsCertainty) {
  StopJudge judge({});
  for (const int points : {40, 60, 80, 100}) EXPECT_FALSE(judge.look(report_of(0.79), run_of(points)));
}

TEST(StopRule, EndsATrainingForAFindingThatLastsAndIsALittleLessCertain) {
  StopJudge judge({});
  for (const int points : {40, 43, 46, 49}) EXPECT_FALSE(judge.look(report_of(0.85), run_of(points)));
  const auto reason = judge.look(report_of(0.85), run_of(50));
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->first_points, 40);
}

TEST(StopRule, ALossThatClimbsWhileAQueueFillsIsLeftAlone) {
  const auto filling = [](int step) { return 9.4 - 3 * std::exp(-step / 15.0) + 0.05 * std::sin(12.9 * step); };
  StopJudge judge({});
  for (int points = 30; points < 200; points += 5) {
    EXPECT_FALSE(judge.look(report_of(0.85), run_with("loss", points, filling))) << points;
  }
}

TEST(StopRule, AFindingThatWasGoneForOneLookHasNotLasted) {
  StopJudge judge({});
  EXPECT_FALSE(judge.look(report_of(0.85), run_of(100)));
  EXPECT_FALSE(judge.look(report_of(0.5), run_of(110)));
  for (const int points : {120, 135, 149}) EXPECT_FALSE(judge.look(report_of(0.85), run_of(points)));
  EXPECT_TRUE(judge.look(report_of(0.85), run_of(150)));
}

TEST(StopRule, OneDoubtfulLookStartsTheShortWayAnew) {
  StopJudge judge({});
  EXPECT_FALSE(judge.look(report_of(0.95), run_of(100)));
  EXPECT_FALSE(judge.look(report_of(0.85), run_of(105)));
  EXPECT_FALSE(judge.look(report_of(0.95), run_of(112)));
  EXPECT_FALSE(judge.look(report_of(0.95), run_of(120)));
  EXPECT_TRUE(judge.look(report_of(0.95), run_of(123)));
}

TEST(StopRule, WantsTheLevel) {
  StopJudge judge({});
  for (const int points : {40, 80}) EXPECT_FALSE(judge.look(report_of(0.99, Severity::warning), run_of(points)));
  StopJudge eager({.level = Severity::warning});
  EXPECT_FALSE(eager.look(report_of(0.99, Severity::warning), run_of(40)));
  EXPECT_TRUE(eager.look(report_of(0.99, Severity::warning), run_of(80)));
}

TEST(StopRule, DoesNotActOnAHandfulOfPoints) {
  StopJudge judge({});
  for (int points = 1; points < 30; ++points) EXPECT_FALSE(judge.look(report_of(0.99), run_of(points)));
  EXPECT_FALSE(judge.look(report_of(0.99), run_of(30))) << "the first look that counts";
  EXPECT_TRUE(judge.look(report_of(0.99), run_of(33)));
  StopJudge patient({.points = 1000});
  for (const int points : {100, 500, 999}) EXPECT_FALSE(patient.look(report_of(0.99), run_of(points)));
}

TEST(StopRule, LeavesATrainingThatHasNotBegunToLearnYet) {
  const auto warming_up = [](int step) { return 2.3 + 0.01 * std::sin(12.9 * step); };
  const auto rounded = [](int) { return 2.3; };
  for (const std::function<double(int)>& loss : {std::function<double(int)>(warming_up), {rounded}}) {
    Report report = report_of(0.96);
    report.findings[0].finding = "loss-stuck-from-start";
    StopJudge judge({});
    for (int points = 30; points < 600; points += 20) EXPECT_FALSE(judge.look(report, run_with("loss", points, loss)));
  }
}

TEST(StopRule, LeavesAnAgentThatHasMetNoRewardYet) {
  Report report = report_of(0.94);
  report.findings[0].finding = "reward-stuck-from-start";
  report.roles = {{"reward", {"reward"}}};
  StopJudge judge({});
  for (int points = 30; points < 600; points += 20) {
    EXPECT_FALSE(judge.look(report, run_with("reward", points, [](int) { return 0.0; })));
  }
  const auto collapses = [](int step) { return (step < 60 ? step : 2) + 0.5 * std::sin(12.9 * step); };
  EXPECT_FALSE(judge.look(report, run_with("reward", 100, collapses)));
  EXPECT_TRUE(judge.look(report, run_with("reward", 120, collapses)));
}

TEST(StopRule, StartsAnewWhenTheFindingWasGoneForOneLook) {
  StopJudge judge({});
  EXPECT_FALSE(judge.look(report_of(0.95), run_of(100)));
  EXPECT_FALSE(judge.look(report_of(0.5), run_of(105)));
  EXPECT_FALSE(judge.look(report_of(0.95), run_of(112)));
  EXPECT_TRUE(judge.look(report_of(0.95), run_of(130)));
}

TEST(StopRule, StartsAnewWhenTheRunDid) {
  StopJudge judge({});
  EXPECT_FALSE(judge.look(report_of(0.95), run_of(500)));
  EXPECT_FALSE(judge.look(report_of(0.95), run_of(40)));
  EXPECT_TRUE(judge.look(report_of(0.95), run_of(50)));
}

TEST(StopRule, WhatHasEndedByItselfIsNotStopped) {
  for (const Mark::Kind kind : {Mark::Kind::crashed, Mark::Kind::finished}) {
    StopJudge judge({});
    EXPECT_FALSE(judge.look(report_of(0.99), run_of(100)));
    osler::Run run = run_of(200);
    run.add(Mark{kind, 199, kNoTime, {}});
    EXPECT_FALSE(judge.look(report_of(0.99), run));
  }
}

TEST(StopRule, NanBetweenFiniteValuesEndsNothing) {
  const auto alternating = [](int points, bool breaks) {
    osler::Run run;
    for (int step = 0; step < points; ++step) {
      run.add(Event{run.series("loss"), step, kNoTime, step % 2 == 0 && !breaks ? 1.0 / (1 + step) : std::nan("")});
    }
    return run;
  };
  Report report = report_of(0.99);
  report.findings[0].finding = "loss-nonfinite-at-start";
  StopJudge judge({});
  for (const int points : {40, 80, 160, 320}) EXPECT_FALSE(judge.look(report, alternating(points, false)));
  StopJudge other({});
  EXPECT_FALSE(other.look(report, alternating(40, true)));
  EXPECT_TRUE(other.look(report, alternating(80, true))) << "not one finite value is another thing";
}

TEST(StopRule, NanInTheEvaluationsAloneEndsNothing) {
  Report report = report_of(0.99);
  report.findings[0].finding = "loss-nonfinite-later";
  report.findings[0].evidence = {{.series = "val_loss", .text = {}}};
  const auto half_broken = [](int points) {
    osler::Run run = run_with("loss", points, [](int step) { return 2 * std::exp(-step / 50.0); });
    for (int step = 0; step < points; ++step) run.add(Event{run.series("val_loss"), step, kNoTime, std::nan("")});
    return run;
  };
  StopJudge judge({});
  for (const int points : {40, 80, 160, 320}) EXPECT_FALSE(judge.look(report, half_broken(points)));
}

TEST(StopRule, NotOneFiniteValueIsCertainHoweverSureTheFindingIs) {
  Report report = report_of(0.7);
  report.findings[0].finding = "loss-nonfinite-at-start";
  const auto broken = [](int points) {
    osler::Run run;
    for (int step = 0; step < points; ++step) run.add(Event{run.series("loss"), step, kNoTime, std::nan("")});
    return run;
  };
  StopJudge judge({});
  EXPECT_FALSE(judge.look(report, broken(40)));
  EXPECT_TRUE(judge.look(report, broken(80)));
}

TEST(StopRule, WaitsForATenthMoreWithinBounds) {
  EXPECT_EQ(points_to_confirm(5), 3);
  EXPECT_EQ(points_to_confirm(300), 30);
  EXPECT_EQ(points_to_confirm(1'000'000), 100);
  EXPECT_EQ(points_to_last(30), 10);
  EXPECT_EQ(points_to_last(300), 75);
  EXPECT_EQ(points_to_last(1'000'000), 1000);
}

}  // namespace
}  // namespace osler
