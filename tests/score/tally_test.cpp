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
  return subject;
}

TEST(TallyTest, AnyAcceptedFindingIsAHitEvenAsANote) {
  const Subject subject = sick_subject();
  EXPECT_EQ(call_of(outcome_of(subject, {seen("overconfidence", Severity::note)})), Call::hit);
  EXPECT_FALSE(warned(outcome_of(subject, {seen("overconfidence", Severity::note)})));
  EXPECT_EQ(call_of(outcome_of(subject, {seen("loss-plateau", Severity::critical)})), Call::miss);
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
  EXPECT_EQ(counts.all.failed + counts.all.healthy, 0U);
  EXPECT_TRUE(counts.by_finding.empty());
}

TEST(TallyTest, FirstStepIsComparedWithTheTruth) {
  const Subject subject = sick_subject();
  EXPECT_EQ(well_dated(outcome_of(subject, {seen("overfitting", Severity::warning, 0.9, 15)})), true);
  EXPECT_EQ(well_dated(outcome_of(subject, {seen("overfitting", Severity::warning, 0.9, 25)})), false);
  EXPECT_EQ(well_dated(outcome_of(subject, {seen("overconfidence", Severity::warning, 0.9, 15)})), std::nullopt);
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
  EXPECT_EQ(counts.reliability.back().count, 2U);
  EXPECT_EQ(counts.reliability.back().right, 1U);
  EXPECT_EQ(counts.all.false_alarms, 1U);
}

}  // namespace
}  // namespace osler::score
