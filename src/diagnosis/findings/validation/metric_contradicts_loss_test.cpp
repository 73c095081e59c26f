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

}  // namespace
}  // namespace osler::sample
