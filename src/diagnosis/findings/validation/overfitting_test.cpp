// What overfitting says where validation ends as high as an untrained model.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

/// Training comes down to next to nothing; validation ends at `loss` with a share `right` of right answers, both still
/// getting better.
Verdict ends_at(double loss, double right) {
  osler::Run run;
  record(run, "loss", curve(13, [](double x) { return 0.045 + 1.57 * std::exp(-9 * x); }));
  record(run, "eval_loss", curve(13, [&](double x) { return loss + 0.55 * (1 - x); }));
  record(run, "eval_accuracy", curve(13, [&](double x) { return right - (right - 0.15) * (1 - x); }));
  return verdict_of("overfitting", run);
}

TEST(Overfitting, AsHighAsUntrainedBesideALossThatIsGoneIsExcusedByNoMetric) {
  const Verdict verdict = ends_at(1.52, 0.45);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(Overfitting, AMetricThatImprovesExcusesWhatCameDownHalfWay) {
  EXPECT_TRUE(no_alarm(ends_at(0.95, 0.6)));
}

TEST(Overfitting, GoodAnswersExcuseAnyLoss) {
  EXPECT_TRUE(no_alarm(ends_at(1.52, 0.99)));
}

}  // namespace
}  // namespace osler::sample
