// Loss bounds: accuracies that contradict their loss, and losses held up above what their accuracy costs.
#include "diagnosis/evidence/loss_bounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "diagnosis/bedside.h"

namespace osler::bedside {
namespace {

template <typename Ask>
auto asked(const Bedside& bed, Ask ask) {
  const auto roles = RoleMap::infer(bed.run);
  return ask(Patient(bed.run, *roles));
}

/// Ten classes: a loss that falls from ln 10 to `loss`, an accuracy that rises from 0.1 to `accuracy`.
Bedside classifier(double loss, double accuracy) {
  Bedside bed;
  bed.run.config("num_classes", "10");
  const auto way = [](double step) { return std::exp(-step / 300); };
  log(bed.run, "train/loss", 200, 10, [&](double step) { return loss + (std::log(10) - loss) * way(step); });
  log(bed.run, "train/accuracy", 200, 10, [&](double step) { return accuracy + (0.1 - accuracy) * way(step); });
  return bed;
}

TEST(LossBounds, ALossOfNearlyNothingNeedsRightAnswers) {
  EXPECT_TRUE(asked(classifier(0.02, 0.11), accuracy_too_low_for_loss));
  EXPECT_FALSE(asked(classifier(0.02, 0.99), accuracy_too_low_for_loss));
  EXPECT_FALSE(asked(classifier(1.2, 0.5), accuracy_too_low_for_loss));
}

TEST(LossBounds, ContradictionPointsToTheMetricAndNotToTheClasses) {
  Bedside bed = classifier(0.02, 0.11);
  bed.found("confidence-without-learning");
  EXPECT_EQ(first(bed.weigh()), "metric-bug");
}

TEST(LossBounds, ALossHeldUpDespiteRightAnswersIsTooHigh) {
  EXPECT_TRUE(asked(classifier(1.46, 0.99), loss_too_high_for_accuracy));
  EXPECT_FALSE(asked(classifier(0.05, 0.99), loss_too_high_for_accuracy));
  EXPECT_FALSE(asked(classifier(1.2, 0.6), loss_too_high_for_accuracy));
}

TEST(LossBounds, ALossThatStaysAboveGuessingIsOneOfWeightsThatStandStill) {
  Bedside bed;
  bed.run.config("num_classes", "10");
  log(bed.run, "train/loss", 200, 10, [](double step) { return 2.5 + 0.01 * std::sin(step); });
  EXPECT_TRUE(asked(bed, stays_above_chance));
  bed.found("loss-stuck-from-start", 0.95, Severity::critical);
  EXPECT_EQ(first(bed.weigh()), "lr-too-low");
}

TEST(LossBounds, ALossAtGuessingIsNot) {
  Bedside bed;
  bed.run.config("num_classes", "10");
  log(bed.run, "train/loss", 200, 10, [](double step) { return 2.303 + 0.01 * std::sin(step); });
  EXPECT_FALSE(asked(bed, stays_above_chance));
}

}  // namespace
}  // namespace osler::bedside
