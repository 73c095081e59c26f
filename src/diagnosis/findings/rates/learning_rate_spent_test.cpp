// What learning-rate-spent says of schedules that end too early, on time, or after the loss has arrived.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "learning-rate-spent";

double cosine(double x) {
  return 0.5 * (1 + std::cos(std::numbers::pi * std::min(x, 1.0)));
}

/// Progress along a power law as fast as the rate allows: the loss depends on the sum of the rates so far.
Values following(const Values& rate, double peak, double relative, std::uint32_t seed) {
  Noise noise(seed);
  Values loss;
  double travelled = 0;
  for (const double now : rate) {
    loss.push_back((0.2 + 2.0 * std::pow(1 + 0.3 * travelled, -0.5)) * (1 + relative * noise.normal()));
    travelled += now / peak;
  }
  return loss;
}

Verdict with(const Values& rate, const Values& loss, std::int64_t stride = 10) {
  osler::Run run;
  record(run, "train/loss", loss, {.stride = stride});
  record(run, "train/lr", rate, {.stride = stride});
  return verdict_of(kId, run);
}

TEST(LearningRateSpent, AScheduleThatEndsAtAFifthOfTheRunIsFound) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    for (const std::size_t rows : {200U, 1500U}) {
      const Values rate = curve(rows, [](double x) { return 1e-3 * std::max(1e-4, cosine(x / 0.2)); });
      const Verdict verdict = with(rate, times(following(rate, 1e-3, 0.01, 5), scale));
      EXPECT_TRUE(found(verdict, Severity::warning)) << scale << " " << rows << " " << in_words(verdict);
    }
  }
}

TEST(LearningRateSpent, ALossBelowZeroIsJudgedTheSame) {
  const Values rate = curve(400, [](double x) { return 1e-3 * std::max(1e-4, cosine(x / 0.2)); });
  Values loss = following(rate, 1e-3, 0.005, 6);
  for (double& value : loss) value = 100 * (value - 5);
  const Verdict verdict = with(rate, loss);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(LearningRateSpent, ASchedulesThatEndsWithTheRunIsHealthy) {
  for (const double end : {0.0, 0.01, 0.1}) {
    const Values rate = curve(500, [&](double x) { return 1e-3 * (end + (1 - end) * cosine(x)); });
    EXPECT_TRUE(absent(with(rate, following(rate, 1e-3, 0.02, 7)))) << end;
    const Values linear = curve(500, [&](double x) { return 1e-3 * std::max(end, 1 - x); });
    EXPECT_TRUE(absent(with(linear, following(linear, 1e-3, 0.02, 8)))) << end;
  }
}

TEST(LearningRateSpent, StepDecaysAfterTheLossLevelledOutAreHealthy) {
  // The classic of image classification: each tenfold decay takes the loss down once more.
  const auto stage = [](double x) { return std::floor(std::min(x, 0.999) * 4); };
  const Values rate = curve(400, [&](double x) { return 0.1 * std::pow(10.0, -stage(x)); });
  const Values loss = noisy(400, 0.02, 9, [&](double x) {
    const double within = 4 * x - stage(x);
    return 0.5 * std::pow(0.6, stage(x)) * (1 + 0.7 * std::exp(-8 * within));
  });
  EXPECT_TRUE(absent(with(rate, loss)));
}

TEST(LearningRateSpent, ARateLoweredBecauseOfAPlateauIsAnAnswerToIt) {
  const Values rate = curve(300, [](double x) { return x < 0.5 ? 1e-3 : x < 0.6 ? 1e-4 : 1e-5; });
  const Values loss = noisy(300, 0.01, 10, [](double x) { return 0.4 + 1.6 * std::exp(-20 * x); });
  EXPECT_TRUE(absent(with(rate, loss)));
}

TEST(LearningRateSpent, ALossThatHasArrivedIsNotStuck) {
  const Values rate = curve(300, [](double x) { return 1e-3 * std::max(1e-4, cosine(x / 0.2)); });
  EXPECT_TRUE(absent(with(rate, noisy(300, 0.02, 11, [](double x) { return 0.01 + 2.3 * std::exp(-30 * x); }))));
}

TEST(LearningRateSpent, AConstantRateIsHealthyAndAMissingOneIsNotChecked) {
  EXPECT_TRUE(absent(with(Values(100, 1e-3), noisy(100, 0.02, 12, descent))));
  osler::Run run;
  record(run, "loss", noisy(100, 0.02, 12, descent));
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
}

TEST(LearningRateSpent, ADecayWithinTheFirstEpochsIsNoAnswerToAPlateau) {
  // Tenfold every second epoch: after six of 25 nothing moves, and no plateau was there to be seen before.
  Values rate(25, 1.5e-6);
  for (std::size_t i = 0; i < 6; ++i) rate[i] = 1.5e-3 * std::pow(0.1, std::floor(static_cast<double>(i) / 2));
  Values loss(25, 0.2506);
  const Values first = {1.065, 0.2952, 0.2602, 0.2562, 0.2529, 0.252, 0.2511};
  std::copy(first.begin(), first.end(), loss.begin());
  for (std::size_t i = 7; i < 25; ++i) loss[i] += 2e-4 * (i % 2 == 0 ? 1 : -1);
  osler::Run run;
  record(run, "train_loss", loss, {.first = 1});
  record(run, "val_loss", loss, {.first = 1});
  record(run, "lr", rate, {.first = 1});
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

}  // namespace
}  // namespace osler::sample
