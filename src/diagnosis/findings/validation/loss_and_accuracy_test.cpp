// What the findings on loss beside accuracy say when the two part.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

Run with(const Values& loss, const Values& accuracy) {
  osler::Run run;
  record(run, "loss", loss);
  record(run, "accuracy", accuracy);
  return run;
}

Values flat(double level, double scatter = 0.005) {
  return noisy(60, scatter / level, 7, [&](double) { return level; });
}

Values falling(double scale = 1) {
  return times(noisy(60, 0.02, 8, descent), scale);
}

TEST(ConfidenceWithoutLearning, AFallingLossBesideAFlatAccuracyIsFound) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    const Verdict verdict = verdict_of("confidence-without-learning", with(falling(scale), flat(0.6)));
    EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  }
}

TEST(ConfidenceWithoutLearning, PerCentAreReadAsShares) {
  EXPECT_TRUE(
      found(verdict_of("confidence-without-learning", with(falling(), times(flat(0.6), 100))), Severity::warning));
}

TEST(ConfidenceWithoutLearning, AnAccuracyThatRisesIsHealthy) {
  const Values rising = noisy(60, 0.01, 9, [](double x) { return 0.3 + 0.5 * (1 - std::exp(-4 * x)); });
  EXPECT_TRUE(absent(verdict_of("confidence-without-learning", with(falling(), rising))));
}

TEST(ConfidenceWithoutLearning, NearTheCeilingThereIsNothingToGain) {
  EXPECT_TRUE(absent(verdict_of("confidence-without-learning", with(falling(), flat(0.97)))));
}

TEST(ConfidenceWithoutLearning, AnAccuracyOfNothingWasMeasuredOnARegression) {
  EXPECT_TRUE(absent(verdict_of("confidence-without-learning", with(falling(), flat(0.003, 0.0001)))));
}

TEST(ConfidenceWithoutLearning, AnotherMetricThatImprovesDeniesIt) {
  osler::Run run = with(falling(), flat(0.85));
  record(run, "train_auc", noisy(60, 0.01, 14, [](double x) { return 0.6 + 0.3 * x; }));
  EXPECT_TRUE(absent(verdict_of("confidence-without-learning", run)));
}

TEST(ConfidenceWithoutLearning, AFlatLossIsNotMeant) {
  EXPECT_TRUE(absent(verdict_of("confidence-without-learning", with(flat(2.3, 0.05), flat(0.1)))));
}

TEST(ConfidenceWithoutLearning, ATinyValidationSetHidesSlowProgress) {
  // 20 samples: the accuracy moves in steps of 0.05 and still rises by a fifth.
  Noise noise(10);
  const Values coarse =
      curve(60, [&](double x) { return std::round(20 * (0.5 + 0.25 * x + 0.08 * noise.normal())) / 20; });
  EXPECT_TRUE(absent(verdict_of("confidence-without-learning", with(falling(), coarse))));
}

TEST(AccuracyOutrunsLoss, ARisingAccuracyBesideAStandingLossIsANote) {
  const Values rising = noisy(60, 0.005, 11, [](double x) { return 0.4 + 0.3 * x; });
  EXPECT_TRUE(found(verdict_of("accuracy-outruns-loss", with(flat(1.2, 0.01), rising)), Severity::note));
}

TEST(AccuracyOutrunsLoss, WhenBothImproveThereIsNothingToSay) {
  const Values rising = noisy(60, 0.005, 12, [](double x) { return 0.4 + 0.3 * x; });
  EXPECT_TRUE(
      absent(verdict_of("accuracy-outruns-loss", with(noisy(60, 0.01, 13, [](double x) { return 2 - x; }), rising))));
  EXPECT_TRUE(absent(verdict_of("accuracy-outruns-loss", with(flat(1.2, 0.01), flat(0.5)))));
}

TEST(LossAndAccuracy, OneWithoutTheOtherIsNotChecked) {
  osler::Run run;
  record(run, "loss", falling());
  record(run, "val_accuracy", flat(0.5));
  EXPECT_TRUE(unchecked(verdict_of("confidence-without-learning", run)));
  EXPECT_TRUE(unchecked(verdict_of("accuracy-outruns-loss", run)));
}

TEST(AccuracyOutrunsLoss, BehindTwoSoftmaxesLossAndAccuracyAddUp) {
  for (const int classes : {3, 10, 100}) {
    const double floor = std::log1p((classes - 1) / std::numbers::e);
    const Values right =
        curve(20, [&](double x) { return 1.0 / classes + (0.9 - 1.0 / classes) * (1 - std::exp(-5 * x)); });
    Values loss;
    for (const double share : right) loss.push_back(floor + 1 - share);
    const Verdict verdict = verdict_of("accuracy-outruns-loss", with(loss, right));
    ASSERT_TRUE(found(verdict, Severity::warning)) << classes << " " << in_words(verdict);
    EXPECT_EQ(std::get<Observation>(verdict).qualifiers.at("floor"), "softmax-twice");
  }
}

TEST(AccuracyOutrunsLoss, ACrossEntropyFallsFasterThanItsAnswersBecomeRight) {
  const Values right = curve(20, [](double x) { return 0.2 + 0.55 * (1 - std::exp(-5 * x)); });
  const Values loss = curve(20, [](double x) { return 2.2 - 1.4 * (1 - std::exp(-5 * x)); });
  EXPECT_TRUE(no_alarm(verdict_of("accuracy-outruns-loss", with(loss, right))));
}

TEST(AccuracyOutrunsLoss, AModelThatIsSureOfNothingYetAddsUpByItself) {
  const Values right = curve(20, [](double x) { return 0.12 + 0.22 * (1 - std::exp(-5 * x)); });
  const Values loss = curve(20, [](double x) { return 2.76 - 0.22 * (1 - std::exp(-5 * x)); });
  EXPECT_TRUE(no_alarm(verdict_of("accuracy-outruns-loss", with(loss, right))));
}

TEST(AccuracyOutrunsLoss, AHingeAddsUpWithoutAFloor) {
  const Values right = curve(20, [](double x) { return 0.3 + 0.6 * (1 - std::exp(-5 * x)); });
  const Values loss = curve(20, [](double x) { return 0.7 - 0.6 * (1 - std::exp(-5 * x)); });
  EXPECT_TRUE(no_alarm(verdict_of("accuracy-outruns-loss", with(loss, right))));
}

TEST(AccuracyOutrunsLoss, AnswersInTheRightOrderAtTheLossOfAGuessAreFound) {
  const auto ranked = [](double end) {
    osler::Run run;
    record(run, "train_loss", noisy(20, 0.005, 21, [&](double x) { return end + (0.7 - end) * std::exp(-5 * x); }));
    record(run, "val_loss", noisy(20, 0.002, 22, [&](double x) { return end + (0.69 - end) * std::exp(-5 * x); }));
    record(run, "val_auc", curve(20, [](double x) { return 0.95 - 0.45 * std::exp(-6 * x); }));
    return verdict_of("accuracy-outruns-loss", run);
  };
  const Verdict verdict = ranked(0.63);
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).qualifiers.at("floor"), "sigmoid-twice");
  EXPECT_TRUE(no_alarm(ranked(0.29))) << "an area of 0.95 is worth about as much";
}

TEST(AccuracyOutrunsLoss, ASumNearTheGuessOfAVocabularyTellsNoClasses) {
  // 16 samples of two classes, summed: 11.76 would be ln(128256).
  osler::Run run;
  record(run, "train_loss", noisy(20, 0.02, 23, [](double x) { return 10.8 + std::exp(-8 * x); }));
  record(run, "train_acc", noisy(20, 0.02, 24, [](double x) { return 60 - 5 * std::exp(-8 * x); }));
  EXPECT_TRUE(no_alarm(verdict_of("accuracy-outruns-loss", run)));
}

}  // namespace
}  // namespace osler::sample
