// What no-warmup says of rough and ordinary starts.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "no-warmup";

Values rough_start(double until, double height) {
  Noise noise(3);
  Values loss = noisy(600, 0.01, 2, descent);
  for (std::size_t i = 1; i < static_cast<std::size_t>(600 * until); ++i) loss[i] += height * (0.3 + noise.uniform());
  return loss;
}

Verdict with(const Values& rate, const Values& loss) {
  osler::Run run;
  record(run, "train_loss", loss, {.first = 10, .stride = 10});
  record(run, "lr", rate, {.first = 10, .stride = 10});
  return verdict_of(kId, run);
}

TEST(NoWarmup, FullRateAndARoughStartIsFound) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    const Verdict verdict = with(Values(600, 1e-3), times(rough_start(0.04, 3.0), scale));
    EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  }
}

TEST(NoWarmup, TheSameRoughnessUnderAWarmUpIsAnotherMatter) {
  const Values rate = curve(600, [](double x) { return x < 0.05 ? 1e-3 * x / 0.05 : 1e-3; });
  EXPECT_TRUE(absent(with(rate, rough_start(0.04, 3.0))));
}

TEST(NoWarmup, AnOrdinaryStartIsHealthy) {
  EXPECT_TRUE(absent(with(Values(600, 1e-3), noisy(600, 0.05, 4, descent))));
  EXPECT_TRUE(absent(with(Values(600, 0.1), noisy(600, 0.5, 5, descent))));
}

TEST(NoWarmup, OneOrTwoHigherValuesAtTheStartAreOrdinary) {
  Values loss = noisy(600, 0.01, 6, descent);
  loss[1] *= 3;
  loss[2] *= 1.5;
  EXPECT_TRUE(absent(with(Values(600, 1e-3), loss)));
}

TEST(NoWarmup, ALogThatBeginsLaterThanItsRatesIsNotJudged) {
  osler::Run run;
  record(run, "loss", rough_start(0.04, 3.0));
  record(run, "lr", Values(100, 1e-3), {.first = 400});
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
}

TEST(NoWarmup, ShortLogsAreNotChecked) {
  EXPECT_TRUE(unchecked(with(Values(20, 1e-3), noisy(20, 0.01, 7, descent))));
}

}  // namespace
}  // namespace osler::sample
