// The learned tables: confidences stay in order and can be undone, weights keep to what the causes' files state.
#include "diagnosis/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "diagnosis/pull_weights.h"

namespace osler {
namespace {

TEST(Calibration, GivesEveryFindingAConfidenceThatGrowsWithItsClearness) {
  for (const auto& [stem, finding] : findings()) {
    double before = 0;
    for (const double clearness : {0.6, 0.7, 0.8, 0.9, 0.95, 0.99}) {
      const double confidence = calibrated(finding.id, clearness);
      EXPECT_GT(confidence, before) << finding.id << " at " << clearness;
      EXPECT_LT(confidence, 1) << finding.id << " at " << clearness;
      before = confidence;
    }
  }
}

TEST(Calibration, CanBeUndone) {
  for (const CalibrationRow& row : calibration_table()) {
    EXPECT_NEAR(clearness_of(row.finding, calibrated(row.finding, 0.83)), 0.83, 1e-9) << row.finding;
  }
}

TEST(Calibration, KnowsEveryFindingInItsTable) {
  const auto rows = calibration_table();
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().finding, "") << "the first row is for findings without their own";
  for (const CalibrationRow& row : rows.subspan(1)) {
    EXPECT_NE(find_finding(row.finding), nullptr) << row.finding;
    EXPECT_GT(row.slope, 0) << row.finding;
    EXPECT_LE(row.untrue, row.seen) << row.finding;
  }
}

TEST(LearnedWeights, StayOnTheSideOfZeroThatTheCauseStates) {
  for (const LearnedPull& row : learned_pulls()) {
    const Cause* cause = find_cause(row.cause);
    ASSERT_NE(cause, nullptr) << row.cause;
    const auto stated = std::find_if(cause->pulls.begin(), cause->pulls.end(),
                                     [&](const Pull& pull) { return pull.finding == row.finding; });
    ASSERT_NE(stated, cause->pulls.end()) << row.cause << " states nothing of " << row.finding;
    EXPECT_GE(row.if_found * stated->if_found, 0) << row.cause << ", " << row.finding;
    EXPECT_GE(row.if_absent * stated->if_absent, 0) << row.cause << ", " << row.finding;
  }
}

TEST(LearnedWeights, ReplaceWhatTheFileStatesAndKeepItsReason) {
  const Pull stated{"loss-spikes", 1.5, 0, "because"};
  const Pull unknown = weighted("no-such-cause", stated);
  EXPECT_EQ(unknown.if_found, 1.5);
  for (const LearnedPull& row : learned_pulls()) {
    const Pull pull = weighted(row.cause, {row.finding, 0, 0, "because"});
    EXPECT_EQ(pull.if_found, row.if_found);
    EXPECT_EQ(pull.if_absent, row.if_absent);
    EXPECT_EQ(pull.why, "because");
  }
}

}  // namespace
}  // namespace osler
