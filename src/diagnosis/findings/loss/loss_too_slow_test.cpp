// What loss-too-slow says of losses that fall in a straight line.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "loss-too-slow";

TEST(LossTooSlow, ACalmStraightLineShowsInTwentyEpochs) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    osler::Run run;
    record(run, "train_loss", times(noisy(20, 0.001, 1, [](double x) { return 2.19 - 0.37 * x; }), scale));
    const Verdict verdict = verdict_of(kId, run);
    EXPECT_TRUE(found(verdict, Severity::warning)) << scale << " " << in_words(verdict);
  }
}

TEST(LossTooSlow, ASecondStageGoesOnWhereTheFirstBegan) {
  const auto staged = [](double first_level) {
    osler::Run run;
    record(run, "train_loss", noisy(6, 0.001, 1, [&](double x) { return first_level - (first_level - 0.34) * x; }));
    record(run, "train_loss", noisy(15, 0.001, 2, [](double x) { return 0.318 + 0.016 * std::exp(-3 * x); }));
    run.settle_launches();
    return run;
  };
  EXPECT_TRUE(no_alarm(verdict_of(kId, staged(0.43))));
  const Verdict slow = verdict_of(kId, staged(0.341));
  EXPECT_TRUE(found(slow, Severity::warning)) << in_words(slow);
}

TEST(LossTooSlow, SingleBatchesAreNoLevelToCompareWith) {
  osler::Run run;
  std::vector<double> losses = noisy(2000, 0.07, 3, [](double x) { return 0.64 - 0.03 * x; });
  losses.front() = 0.45;
  record(run, "train_loss", losses);
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(LossTooSlow, TwentyEpochsThatBendAreHealthy) {
  osler::Run run;
  record(run, "train_loss", noisy(20, 0.001, 1, [](double x) { return 1.8 + 0.39 * std::exp(-5 * x); }));
  EXPECT_TRUE(no_alarm(verdict_of(kId, run)));
}

/// Batches too noisy to tell a line from a bend, beside calm evaluations.
Run with_validation(double fall) {
  osler::Run run;
  record(run, "train_loss", noisy(200, 0.08, 2, [&](double x) { return 3.97 - fall * x; }));
  record(run, "val_loss", noisy(20, 0.001, 3, [&](double x) { return 3.93 - fall * x; }), {.first = 10, .stride = 10});
  return run;
}

TEST(LossTooSlow, ValidationTellsALineThatTrainingHides) {
  const Verdict verdict = verdict_of(kId, with_validation(0.5));
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(LossTooSlow, ALongTailIsStraightToo) {
  osler::Run run;
  record(run, "train_loss", noisy(200, 0.02, 2, [](double x) { return 3.4 + 0.6 * std::exp(-20 * x) - 0.1 * x; }));
  record(run, "val_loss", noisy(20, 0.001, 3, [](double x) { return 3.55 - 0.15 * x; }), {.first = 10, .stride = 10});
  EXPECT_TRUE(no_alarm(verdict_of(kId, run)));
}

TEST(LossTooSlow, AnswersThatMultiplyShowThatTheRunCameSomewhere) {
  osler::Run run = with_validation(0.5);
  record(run, "val_acc", noisy(20, 0.01, 4, [](double x) { return 0.2 + 0.25 * x; }), {.first = 10, .stride = 10});
  EXPECT_TRUE(no_alarm(verdict_of(kId, run)));
}

TEST(LossTooSlow, AFirstEvaluationFarBelowWhereTrainingBeganHasFollowed) {
  // A contrastive loss: most of the way lies before the first evaluation.
  osler::Run run;
  record(run, "train_loss", noisy(18, 0.003, 5, [](double x) { return 3.22 + 0.65 * std::exp(-20 * x); }));
  record(run, "val_loss", noisy(18, 0.001, 6, [](double x) { return 2.17 + 0.14 * std::exp(-6 * x); }));
  EXPECT_TRUE(no_alarm(verdict_of(kId, run)));
}

}  // namespace
}  // namespace osler::sample
