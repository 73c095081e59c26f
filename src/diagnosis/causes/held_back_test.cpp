// Which causes explain a training that is held back while validation is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/bedside.h"

namespace osler {
namespace {

using bedside::Bedside;
using bedside::first;
using bedside::ids;
using bedside::log;
using testing::Contains;
using testing::Not;

TEST(HeldBack, WrongLabelsComeBeforeALeak) {
  Bedside bed;
  bed.found("validation-better-than-training", 0.7, Severity::warning, {{"training", "held back"}});
  const auto causes = ids(bed.weigh().causes, 3);
  EXPECT_THAT(causes, Contains("label-noise"));
  EXPECT_THAT(causes, Not(Contains("data-leak")));
}

TEST(HeldBack, AnswersApartAtLossesAlikeSpeakForWrongLabels) {
  Bedside bed;
  bed.found("validation-better-than-training", 0.7, Severity::warning,
            {{"training", "held back"}, {"answers", "apart"}});
  EXPECT_EQ(first(bed.weigh()), "label-noise");
}

TEST(HeldBack, AnswersAlikeAtLossesApartSpeakForSmoothing) {
  Bedside bed;
  bed.found("validation-better-than-training", 0.7, Severity::warning,
            {{"training", "held back"}, {"answers", "alike"}});
  EXPECT_EQ(first(bed.weigh()), "label-smoothing");
}

TEST(SoftmaxTwice, IsAWrongLossRatherThanSmoothing) {
  Bedside bed;
  bed.found("accuracy-outruns-loss", 0.75, Severity::warning, {{"floor", "softmax-twice"}});
  log(bed.run, "train_loss", 40, 1, [](double step) { return 1.7 + 0.4 / (1 + step); });
  EXPECT_EQ(first(bed.weigh()), "wrong-loss-function");
}

TEST(SigmoidTwice, IsAWrongLossRatherThanSmoothing) {
  Bedside bed;
  bed.found("accuracy-outruns-loss", 0.75, Severity::warning, {{"floor", "sigmoid-twice"}});
  log(bed.run, "train_loss", 40, 1, [](double step) { return 0.63 + 0.06 / (1 + step); });
  EXPECT_EQ(first(bed.weigh()), "wrong-loss-function");
}

}  // namespace
}  // namespace osler
