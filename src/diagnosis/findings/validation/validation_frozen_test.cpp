// What validation-frozen says of evaluations that repeat, and where a repetition is no riddle.
#include <gtest/gtest.h>

#include <limits>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "validation-frozen";
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Validation falls for a third of the run and repeats one value from then on.
Values stopped(double at) {
  return curve(24, [&](double x) { return x < 1.0 / 3 ? at + 1.4 * (1.0 / 3 - x) : at; });
}

Run beside(const Values& training, const Values& validation) {
  osler::Run run;
  record(run, "train_loss", training);
  record(run, "val_loss", validation, {.first = 5, .stride = 5});
  return run;
}

TEST(ValidationFrozen, TwoDigitsDoNotHideAFallByHalf) {
  const Values falling = noisy(120, 0.02, 1, [](double x) { return 0.45 + 1.6 * std::exp(-4 * x); });
  const Verdict verdict = verdict_of(kId, beside(falling, stopped(0.93)));
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(ValidationFrozen, TwoDigitsHideALongTail) {
  const Values resting = noisy(120, 0.002, 2, [](double x) { return 0.93 + 1.2 * std::exp(-15 * x); });
  EXPECT_TRUE(absent(verdict_of(kId, beside(resting, stopped(0.93)))));
}

TEST(ValidationFrozen, WhatIsNotANumberAnyMoreAnswersAlike) {
  Values training = noisy(120, 0.02, 3, [](double x) { return 2.1 - x; });
  Values validation = curve(24, [](double x) { return 2 - x; });
  Values right = curve(24, [](double x) { return 0.3 + 0.5 * x; });
  for (std::size_t i = 20; i < 120; ++i) training[i] = kNan;
  for (std::size_t i = 4; i < 24; ++i) validation[i] = kNan;
  for (std::size_t i = 4; i < 24; ++i) right[i] = 0.1425;
  osler::Run run = beside(training, validation);
  record(run, "val_acc", right, {.first = 5, .stride = 5});
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
  EXPECT_TRUE(unchecked(verdict_of("predicts-one-class", run)));
  EXPECT_TRUE(unchecked(verdict_of("underfitting", run)));
}

TEST(ValidationFrozen, WeightsThatNeverMovedRepeatTheirEvaluation) {
  const Values standing = noisy(120, 0.05, 4, [](double) { return 29.0; });
  EXPECT_TRUE(absent(verdict_of(kId, beside(standing, Values(24, 28.5512)))));
}

TEST(ValidationFrozen, ARateOfZeroMovesNothing) {
  osler::Run run = beside(noisy(120, 0.02, 5, [](double x) { return 0.8 + std::exp(-30 * x); }), stopped(0.93));
  Values right = curve(24, [](double x) { return x < 0.1 ? 0.3 + x : 0.612; });
  record(run, "val_acc", right, {.first = 5, .stride = 5});
  const Verdict working = verdict_of(kId, run);
  EXPECT_TRUE(found(working, Severity::warning)) << in_words(working);
  record(run, "lr", curve(120, [](double x) { return x < 0.1 ? 1e-3 : 0; }));
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

}  // namespace
}  // namespace osler::sample
