// The learned tables: confidences stay in order and can be undone, weights keep to what the causes' files state.
#include "diagnosis/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "osler/diagnosis/catalogue.h"

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

}  // namespace
}  // namespace osler
