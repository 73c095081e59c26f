// What metric-contradicts-loss says when the validation loss and its metrics disagree.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "metric-contradicts-loss";

Run with_metric(const std::string& name, const std::function<double(double)>& metric, double scale = 1) {
  osler::Run run;
  record(run, "train_loss", times(noisy(40, 0.01, 1, descent), scale));
  record(run, "val_loss", times(noisy(40, 0.01, 2, descent), scale));
  record(run, name, noisy(40, 0.01, 3, metric));
  return run;
}

TEST(MetricContradictsLoss, AMetricThatFallsWhileTheLossImprovesIsFound) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    const Verdict verdict = verdict_of(kId, with_metric(
                                                "val_f1", [](double x) { return 0.8 - 0.4 * x; }, scale));
    EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  }
}

TEST(MetricContradictsLoss, AMetricForWhichLowerIsBetterIsUnderstood) {
  EXPECT_TRUE(
      found(verdict_of(kId, with_metric("val_wer", [](double x) { return 0.3 + 0.3 * x; })), Severity::warning));
  EXPECT_TRUE(absent(verdict_of(kId, with_metric("val_wer", [](double x) { return 0.6 - 0.3 * x; }))));
}

TEST(MetricContradictsLoss, AgreementIsHealthy) {
  EXPECT_TRUE(absent(verdict_of(kId, with_metric("val_accuracy", [](double x) { return 0.3 + 0.5 * x; }))));
}

TEST(MetricContradictsLoss, ASlightDeclineDoesNotMatter) {
  EXPECT_TRUE(absent(verdict_of(kId, with_metric("val_accuracy", [](double x) { return 0.85 - 0.03 * x; }))));
}

TEST(MetricContradictsLoss, AnotherMetricThatImprovesDeniesIt) {
  osler::Run run = with_metric("val_precision", [](double x) { return 0.8 - 0.4 * x; });
  record(run, "val_recall", noisy(40, 0.01, 4, [](double x) { return 0.2 + 0.6 * x; }));
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(MetricContradictsLoss, ARisingLossBesideABetterMetricIsNotMeant) {
  osler::Run run;
  record(run, "val_loss", noisy(40, 0.01, 5, [](double x) { return 1 + x; }));
  record(run, "val_bleu", noisy(40, 0.01, 6, [](double x) { return 10 + 20 * x; }));
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(MetricContradictsLoss, AFewEvaluationsAreNotChecked) {
  osler::Run run;
  record(run, "val_loss", {1.0, 0.9, 0.8, 0.7});
  record(run, "val_f1", {0.7, 0.6, 0.5, 0.4});
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
}

TEST(MetricContradictsLoss, ADozenEvaluationsInOrderSuffice) {
  // A perplexity is the exponential of a loss, and has no business to rise while the loss falls.
  osler::Run run;
  record(run, "train_loss", curve(12, [](double x) { return 150 - 65 * x; }));
  record(run, "val_loss", {132.2, 117.7, 108.9, 102.7, 98.0, 94.6, 92.0, 90.2, 89.4, 88.9, 88.2, 87.9});
  record(run, "val_perplexity", {38.5, 51.6, 69.0, 90.2, 113.7, 137.6, 160.1, 179.6, 188.2, 194.8, 204.5, 208.1});
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(MetricContradictsLoss, AnAreaOfAHalfBesideALossThatLearnedIsFound) {
  const auto beside = [](double area) {
    osler::Run run;
    record(run, "train_loss", noisy(60, 0.05, 31, [](double x) { return 0.25 + 0.5 * std::exp(-6 * x); }));
    record(run, "val_loss", noisy(20, 0.01, 32, [](double x) { return 0.25 + 0.4 * std::exp(-6 * x); }));
    record(run, "val_auc", noisy(20, 0.01, 33, [&](double x) { return area - (area - 0.48) * std::exp(-6 * x); }));
    return verdict_of(kId, run);
  };
  const Verdict verdict = beside(0.48);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_TRUE(absent(beside(0.95)));
}

TEST(MetricContradictsLoss, ARiseOfAHairIsNone) {
  osler::Run run;
  record(run, "train_loss", noisy(60, 0.05, 34, [](double x) { return 0.05 + 4 * std::exp(-9 * x); }));
  record(run, "valid_loss", {0.76, 0.39, 0.27, 0.19, 0.15, 0.14, 0.13});
  record(run, "valid_acc", {0.05, 0.055, 0.0525, 0.0575, 0.0575, 0.0575, 0.0575});
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(MetricContradictsLoss, ALossThatComesDownToThatOfAGuessAgreesWithTheGuess) {
  // Three classes: 1.37 is more than ln 3, however far above it the loss began.
  osler::Run run;
  record(run, "train_loss", noisy(20, 0.01, 35, [](double x) { return 1.32 + 2.3 * std::exp(-6 * x); }));
  record(run, "val_loss", noisy(20, 0.002, 36, [](double x) { return 1.37 + 1.9 * std::exp(-6 * x); }));
  record(run, "val_acc", {0.31, 0.3,   0.29,  0.28, 0.265, 0.305, 0.31, 0.325, 0.33, 0.345,
                          0.34, 0.335, 0.335, 0.34, 0.345, 0.345, 0.34, 0.34,  0.34, 0.345});
  EXPECT_TRUE(absent(verdict_of(kId, run)));
  const Verdict weak = verdict_of("underfitting", run);
  EXPECT_TRUE(found(weak, Severity::warning)) << in_words(weak);
}

TEST(MetricContradictsLoss, AnswersSeldomerThanTheirLossGivesThemProbabilityAreFound) {
  const auto right = [](double validation) {
    osler::Run run;
    record(run, "train_loss", noisy(14, 0.01, 41, [](double x) { return 0.56 + 0.8 * std::exp(-9 * x); }));
    record(run, "train_acc", noisy(14, 0.01, 42, [](double x) { return 0.78 - 0.35 * std::exp(-9 * x); }));
    record(run, "val_loss", noisy(14, 0.01, 43, [](double x) { return 0.66 + 0.2 * std::exp(-9 * x); }));
    record(run, "val_acc", noisy(14, 0.04, 44, [&](double) { return validation; }));
    return verdict_of(kId, run);
  };
  const Verdict verdict = right(0.22);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_TRUE(absent(right(0.6)));
}

}  // namespace
}  // namespace osler::sample
