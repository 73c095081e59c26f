// The tally: what counts as a hit, a miss, a false alarm, and a well-dated finding.
#include "score/tally.h"

#include <gtest/gtest.h>

#include "simulate/draft.h"

namespace osler::score {
namespace {

Observation seen(const std::string& finding, Severity severity, double confidence = 0.9, std::int64_t step = 0) {
  Observation observation;
  observation.finding = finding;
  observation.severity = severity;
  observation.confidence = confidence;
  observation.first_step = step;
  return observation;
}

Outcome outcome_of(const Subject& subject, std::vector<Observation> findings) {
  Outcome outcome;
  outcome.subject = &subject;
  outcome.findings = std::move(findings);
  return outcome;
}

Subject sick_subject() {
  Subject subject;
  subject.label = "overfitting";
  subject.truth = simulate::sick("overfitting", {"too-little-data"}, {"overconfidence"}, {"loss-plateau"});
  subject.truth.begins = {10, 20};
  subject.planted = {"too-little-data"};
  return subject;
}

TEST(TallyTest, OnlyWarningsAndWorseCountAsFound) {
  const Subject subject = sick_subject();
  EXPECT_EQ(call_of(outcome_of(subject, {seen("overconfidence", Severity::warning)})), Call::found);
  EXPECT_EQ(call_of(outcome_of(subject, {seen("overfitting", Severity::note)})), Call::missed);
  EXPECT_EQ(call_of(outcome_of(subject, {seen("loss-plateau", Severity::critical)})), Call::missed);
}

TEST(TallyTest, NotesOnHealthyRunsAreCountedAsNoise) {
  Subject healthy;
  healthy.truth = simulate::healthy({"loss-plateau"});
  const Outcome silent = outcome_of(healthy, {});
  const Outcome noted = outcome_of(healthy, {seen("loss-plateau", Severity::note)});
  const Tally counts = tally({&silent, &noted});
  EXPECT_EQ(counts.all.healthy, 2U);
  EXPECT_EQ(counts.all.with_note, 1U);
  EXPECT_EQ(counts.all.false_alarms, 0U);
}

TEST(TallyTest, OnlyWarningsThatTheLabelDoesNotAllowAreFalseAlarms) {
  Subject subject;
  subject.truth = simulate::healthy({"loss-plateau"});
  EXPECT_EQ(call_of(outcome_of(subject, {seen("loss-plateau", Severity::warning)})), Call::clean);
  EXPECT_EQ(call_of(outcome_of(subject, {seen("loss-spikes", Severity::note)})), Call::clean);
  EXPECT_EQ(call_of(outcome_of(subject, {seen("loss-spikes", Severity::warning)})), Call::false_alarm);
}

TEST(TallyTest, UndecidedRunsAreNotCounted) {
  Subject subject;
  subject.decided = false;
  const Outcome outcome = outcome_of(subject, {seen("loss-spikes", Severity::critical)});
  EXPECT_EQ(call_of(outcome), Call::open);
  const Tally counts = tally({&outcome});
  EXPECT_EQ(counts.all.sick + counts.all.healthy, 0U);
  EXPECT_TRUE(counts.by_finding.empty());
}

TEST(TallyTest, FirstStepIsComparedWithTheTruth) {
  const Subject subject = sick_subject();
  EXPECT_EQ(well_dated(outcome_of(subject, {seen("overfitting", Severity::warning, 0.9, 15)})), true);
  EXPECT_EQ(well_dated(outcome_of(subject, {seen("overfitting", Severity::warning, 0.9, 25)})), false);
  EXPECT_EQ(well_dated(outcome_of(subject, {seen("overconfidence", Severity::warning, 0.9, 15)})), true);
  EXPECT_EQ(well_dated(outcome_of(subject, {seen("overconfidence", Severity::warning, 0.9, 25),
                                            seen("overfitting", Severity::warning, 0.9, 15)})),
            true)
      << "the main finding tells, where it was reported";
  EXPECT_EQ(well_dated(outcome_of(subject, {seen("overfitting", Severity::note, 0.9, 15)})), std::nullopt);
}

TEST(TallyTest, RankOfTheRightCause) {
  const Subject subject = sick_subject();
  Outcome outcome = outcome_of(subject, {});
  EXPECT_EQ(cause_rank(outcome), std::nullopt);
  outcome.causes.resize(2);
  outcome.causes[0].cause = "lr-too-high";
  outcome.causes[1].cause = "too-little-data";
  EXPECT_EQ(cause_rank(outcome), 1U);
}

TEST(TallyTest, CountsPrecisionRecallAndReliability) {
  const Subject sick = sick_subject();
  Subject healthy;
  healthy.label = "healthy";
  const Outcome hit = outcome_of(sick, {seen("overfitting", Severity::warning, 0.97)});
  const Outcome miss = outcome_of(sick, {});
  const Outcome alarm = outcome_of(healthy, {seen("overfitting", Severity::warning, 0.97)});
  const Tally counts = tally({&hit, &miss, &alarm});
  const FindingTally& finding = counts.by_finding.at("overfitting");
  EXPECT_EQ(finding.expected, 2U);
  EXPECT_EQ(finding.found, 1U);
  EXPECT_EQ(finding.reported, 2U);
  EXPECT_EQ(finding.reported_true, 1U);
  EXPECT_EQ(counts.findings_reliability.back().count, 2U);
  EXPECT_EQ(counts.findings_reliability.back().right, 1U);
  EXPECT_EQ(counts.all.false_alarms, 1U);
}

TEST(TallyTest, CalibrationErrorIsTheDistanceBetweenSaidAndRight) {
  std::vector<ReliabilityBin> bins = empty_bins();
  EXPECT_EQ(calibration_error(bins), 0);
  for (int i = 0; i < 3; ++i) count_into(bins, 0.75, true);
  count_into(bins, 0.75, false);
  EXPECT_NEAR(calibration_error(bins), 0, 1e-12);
  for (int i = 0; i < 4; ++i) count_into(bins, 0.98, false);
  EXPECT_NEAR(calibration_error(bins), 0.49, 1e-12);
}

TEST(TallyTest, CausesAreCalibratedOverTheFirstThree) {
  const Subject sick = sick_subject();
  Outcome outcome = outcome_of(sick, {});
  outcome.causes.resize(4);
  outcome.causes[0] = {"too-little-data", 0.97, {}, {}, {}, {}};
  const Tally counts = tally({&outcome});
  EXPECT_EQ(counts.causes_reliability.back().right, 1U);
  EXPECT_EQ(counts.causes_reliability.front().count, 2U);
}

TEST(TallyTest, CausesAreNotCalibratedWhereAnyOfSeveralWouldDo) {
  Subject sick = sick_subject();
  sick.truth.causes = {"too-little-data", "model-too-large"};
  Outcome outcome = outcome_of(sick, {});
  outcome.causes.resize(1);
  EXPECT_EQ(tally({&outcome}).causes_reliability.front().count, 0U);
}

TEST(TallyTest, RunsWhoseLogCannotShowTheTroubleAreCountedApart) {
  Subject hidden = sick_subject();
  hidden.shows = false;
  const Outcome missed = outcome_of(hidden, {});
  const Tally counts = tally({&missed});
  EXPECT_EQ(counts.by_cause.at("too-little-data").sick, 1U);
  EXPECT_EQ(counts.by_cause.at("too-little-data").showing, 0U);
}

TEST(TallyTest, WilsonsIntervalHoldsForAllAndForNothing) {
  const auto [low, high] = wilson(0, 50);
  EXPECT_EQ(low, 0);
  EXPECT_NEAR(high, 0.0713, 1e-4);
  const auto [from, to] = wilson(8, 10);
  EXPECT_NEAR(from, 0.4902, 1e-4);
  EXPECT_NEAR(to, 0.9433, 1e-4);
  EXPECT_EQ(wilson(0, 0), (std::pair<double, double>{0, 1}));
}

}  // namespace
}  // namespace osler::score
