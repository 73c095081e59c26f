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

/// Half of the training labels are wrong: few can be learned, and the model learns to be unsure.
Run unsure(double loss_of_validation) {
  osler::Run run;
  record(run, "train_loss", noisy(25, 0.01, 3, [](double x) { return 1.35 + 0.75 * std::exp(-4 * x); }));
  record(run, "train_acc", noisy(25, 0.02, 4, [](double x) { return 0.47 - 0.27 * std::exp(-4 * x); }));
  record(run, "val_loss",
         noisy(25, 0.01, 5, [&](double x) { return loss_of_validation * (1 + 0.6 * std::exp(-4 * x)); }));
  record(run, "val_acc", noisy(25, 0.02, 6, [](double x) { return 0.72 - 0.4 * std::exp(-6 * x); }));
  return run;
}

TEST(ValidationBetterThanTraining, AnswersApartAtLossesAlikeAreAWarning) {
  const Verdict verdict = verdict_of(kId, unsure(1.1));
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).qualifiers.at("answers"), "apart");
}

TEST(ValidationBetterThanTraining, UnderDropoutTheLossesPartWithTheAnswers) {
  EXPECT_TRUE(no_alarm(verdict_of(kId, unsure(0.5))));
}

TEST(ValidationBetterThanTraining, AValidationOfFewerNegativesLiesLowerFromTheFirst) {
  // A contrastive loss is a guess among the samples of its batch, of which validation has fewer.
  osler::Run run;
  record(run, "train_loss", noisy(18, 0.003, 7, [](double x) { return 3.22 + 0.65 * std::exp(-20 * x); }));
  record(run, "val_loss", noisy(18, 0.001, 8, [](double x) { return 2.17 + 0.14 * std::exp(-6 * x); }));
  EXPECT_TRUE(no_alarm(verdict_of(kId, run)));
}

TEST(ValidationBetterThanTraining, RightAnswersAtALossThatStandsAreHeldBack) {
  // Labels smoothed by more than a half.
  const auto smoothed = [](double right) {
    osler::Run run;
    record(run, "train_loss", noisy(12, 0.001, 11, [](double x) { return 1.45 + 0.07 * std::exp(-8 * x); }));
    record(run, "train_acc", noisy(12, 0.005, 12, [&](double x) { return right - 0.18 * std::exp(-6 * x); }));
    record(run, "val_loss", noisy(12, 0.001, 13, [](double x) { return 1.04 + 0.08 * std::exp(-4 * x); }));
    record(run, "val_acc", noisy(12, 0.005, 14, [](double x) { return 0.78 - 0.05 * std::exp(-4 * x); }));
    return verdict_of(kId, run);
  };
  const Verdict verdict = smoothed(0.8);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_TRUE(no_alarm(smoothed(0.65))) << "as under dropout";
}

TEST(ValidationBetterThanTraining, PairsThatAreToldApartFromTheFirstAreNoClasses) {
  osler::Run run;
  record(run, "train_loss", noisy(20, 0.005, 15, [](double x) { return 2.0 + 1.3 * std::exp(-4 * x); }));
  record(run, "train_acc", noisy(20, 0.02, 16, [](double x) { return 0.62 - 0.3 * std::exp(-4 * x); }));
  record(run, "val_loss", noisy(20, 0.005, 17, [](double x) { return 1.64 + 0.6 * std::exp(-9 * x); }));
  record(run, "val_acc", noisy(20, 0.001, 18, [](double) { return 0.998; }));
  EXPECT_TRUE(no_alarm(verdict_of(kId, run)));
}

}  // namespace
}  // namespace osler::sample
