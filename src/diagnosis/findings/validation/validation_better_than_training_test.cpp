// What validation-better-than-training says of the order of both losses.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "validation-better-than-training";

Run with_ratio(double ratio, double scale = 1) {
  osler::Run run;
  Values train = noisy(40, 0.02, 1, descent);
  Values validation = times(noisy(40, 0.02, 2, descent), ratio);
  for (double& value : train) value *= scale;
  for (double& value : validation) value *= scale;
  record(run, "loss", train);
  record(run, "val_loss", validation);
  return run;
}

TEST(ValidationBetterThanTraining, FarBelowAllAlongIsANote) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    EXPECT_TRUE(found(verdict_of(kId, with_ratio(0.05, scale)), Severity::note));
  }
}

TEST(ValidationBetterThanTraining, AsGoodOrWorseIsOrdinary) {
  EXPECT_TRUE(absent(verdict_of(kId, with_ratio(0.5)))) << "dropout and augmentation do that";
  EXPECT_TRUE(absent(verdict_of(kId, with_ratio(1.0))));
  EXPECT_TRUE(absent(verdict_of(kId, with_ratio(1.2))));
}

TEST(ValidationBetterThanTraining, TheLagOfEpochMeansIsNotMistakenForIt) {
  // The mean over an epoch that falls steeply lies above the loss at its end.
  osler::Run run;
  record(run, "loss", curve(30, [](double x) { return std::pow(0.5, 30 * x / 4); }));
  record(run, "val_loss", curve(30, [](double x) { return std::pow(0.5, (30 * x + 0.5) / 4); }));
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(ValidationBetterThanTraining, ItTakesBothLossesAndSomeEvaluations) {
  osler::Run run;
  record(run, "loss", curve(30, descent));
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
  record(run, "val_loss", {1.0, 0.9, 0.8});
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
}

}  // namespace
}  // namespace osler::sample
