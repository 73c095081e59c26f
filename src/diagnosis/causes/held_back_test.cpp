// Which causes explain a training that is held back while validation is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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

TEST(HeldBack, ATextHasNoWrongLabels) {
  Bedside bed;
  bed.found("validation-better-than-training", 0.7, Severity::warning, {{"training", "held back"}});
  const auto among_numbers = ids(bed.weigh().causes, 2);
  EXPECT_THAT(among_numbers, Contains("label-noise"));
  log(bed.run, "train_loss", 40, 1, [](double step) { return 3.4 + 0.4 / (1 + step); });
  log(bed.run, "val_loss", 40, 1, [](double step) { return 2.7 + 0.9 / (1 + step); });
  log(bed.run, "val_ppl", 40, 1, [](double step) { return std::exp(2.7 + 0.9 / (1 + step)); });
  EXPECT_THAT(ids(bed.weigh().causes, 2), Not(Contains("label-noise")));
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
