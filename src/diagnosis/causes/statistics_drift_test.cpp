// Which causes compete for running statistics that do not fit the batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/bedside.h"

namespace osler {
namespace {

using bedside::Bedside;
using bedside::first;
using bedside::ids;
using bedside::log;
using testing::IsSupersetOf;

constexpr std::string_view kDrift = "activations/bn1#drift";

Bedside drifting(double from, double to) {
  Bedside bed;
  bed.found("normalization-statistics-drift");
  log(bed.run, std::string(kDrift), 40, 1, [=](double step) { return from + (to - from) * step / 40; });
  return bed;
}

TEST(StatisticsDrift, FourCausesCompete) {
  EXPECT_THAT(ids(drifting(5, 5).weigh().causes), IsSupersetOf({"normalization-momentum-too-small", "eval-mode-left-on",
                                                                "batch-too-small", "validation-pipeline-bug"}));
}

TEST(StatisticsDrift, InTrainingModeTheMomentumIsTooSmall) {
  Bedside bed = drifting(5, 5);
  bed.absent("eval-mode-in-training");
  EXPECT_EQ(first(bed.weigh()), "normalization-momentum-too-small");
}

TEST(StatisticsDrift, InEvaluationModeNothingIsUpdated) {
  Bedside bed = drifting(5, 5);
  bed.found("eval-mode-in-training");
  EXPECT_EQ(first(bed.weigh()), "eval-mode-left-on");
}

TEST(StatisticsDrift, BatchesOfTwoHaveNoStatistics) {
  Bedside bed = drifting(3, 6);
  bed.absent("eval-mode-in-training");
  bed.run.config("batch_size", "2");
  EXPECT_EQ(first(bed.weigh()), "batch-too-small");
}

TEST(StatisticsDrift, ValidationInTrainingModeOnOtherDataDrawsThemAway) {
  Bedside bed = drifting(0.2, 6);
  bed.absent("eval-mode-in-training");
  bed.found("validation-below-chance");
  EXPECT_EQ(first(bed.weigh()), "validation-pipeline-bug");
}

TEST(StatisticsDrift, ADistanceThatShrinksSpeaksForStatisticsThatFollowSlowly) {
  const auto probability = [](const Bedside& bed) {
    for (const WeighedCause& each : bed.weigh().causes) {
      if (each.cause == "normalization-momentum-too-small") return each.probability;
    }
    return 0.0;
  };
  EXPECT_GT(probability(drifting(20, 4)), probability(drifting(5, 5)));
  EXPECT_GT(probability(drifting(5, 5)), probability(drifting(2, 9)));
}

}  // namespace
}  // namespace osler
