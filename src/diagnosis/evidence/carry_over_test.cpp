// Carry-over: validation beside the untrained network, and the causes that it tells apart.
#include "diagnosis/evidence/carry_over.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "diagnosis/bedside.h"

namespace osler::bedside {
namespace {

using testing::AnyOf;

std::optional<CarryOver> carried(const Bedside& bed) {
  const auto roles = RoleMap::infer(bed.run);
  return carry_over(Patient(bed.run, *roles));
}

/// Training falls from 2 to 0.4; validation does as told.
Bedside with_validation(const std::function<double(double)>& validation) {
  Bedside bed;
  log(bed.run, "train/loss", 200, 10, [](double step) { return 0.4 + 1.6 * std::exp(-step / 400); });
  log(bed.run, "val/loss", 20, 100, validation);
  bed.found("overfitting", 0.9, Severity::critical);
  return bed;
}

TEST(CarryOver, FollowsWhereValidationComesDownBeforeItTurns) {
  const Bedside bed = with_validation([](double step) { return 1.0 + 0.9 * std::exp(-step / 200) + step / 4000; });
  ASSERT_TRUE(carried(bed));
  EXPECT_TRUE(carried(bed)->followed());
  EXPECT_FALSE(carried(bed)->never());
  EXPECT_THAT(first(bed.weigh()), AnyOf("too-little-data", "model-too-large"));
}

TEST(CarryOver, NeverCameWhereValidationStaysWhereTheUntrainedNetworkIs) {
  const Bedside bed = with_validation([](double step) { return 2.0 + step / 1000; });
  ASSERT_TRUE(carried(bed));
  EXPECT_TRUE(carried(bed)->never());
  EXPECT_FALSE(carried(bed)->beyond());
  EXPECT_THAT(first(bed.weigh()), AnyOf("validation-pipeline-bug", "wrong-labels"));
}

TEST(CarryOver, IsBeyondReasonWhereValidationIsFarWorseThanTheUntrainedNetwork) {
  const Bedside bed = with_validation([](double step) { return 23 * std::exp(-step / 2000); });
  ASSERT_TRUE(carried(bed));
  EXPECT_TRUE(carried(bed)->beyond());
  EXPECT_THAT(first(bed.weigh()), AnyOf("validation-pipeline-bug", "eval-mode-left-on"));
}

TEST(CarryOver, SaysNothingOfARunThatDoesNotLearn) {
  Bedside bed;
  log(bed.run, "train/loss", 200, 10, [](double) { return 2.3; });
  log(bed.run, "val/loss", 20, 100, [](double) { return 2.3; });
  EXPECT_FALSE(carried(bed));
}

}  // namespace
}  // namespace osler::bedside
