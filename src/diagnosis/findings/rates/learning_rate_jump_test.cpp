// What learning-rate-jump says of resumes without scheduler state and of schedules that rise on purpose.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "learning-rate-jump";

double cosine(double x) {
  return 0.5 * (1 + std::cos(std::numbers::pi * x));
}

Verdict with(const Values& rate, const Values& loss) {
  osler::Run run;
  record(run, "loss", loss, {.stride = 50});
  record(run, "learning_rate", rate, {.stride = 50});
  return verdict_of(kId, run);
}

/// A cosine that starts anew at `at`.
Values resumed_rate(double at) {
  return curve(400, [&](double x) { return 3e-4 * cosine(x < at ? x : x - at); });
}

TEST(LearningRateJump, AScheduleThatStartsAnewAndLiftsTheLossIsAWarning) {
  for (const double at : {0.45, 0.6, 0.75}) {
    for (const double scale : {1e4, 1.0, 1e-4}) {
      const Values loss = noisy(400, 0.01, 1, [&](double x) { return descent(x) + (x < at ? 0.0 : 0.3); });
      const Verdict verdict = with(resumed_rate(at), times(loss, scale));
      EXPECT_TRUE(found(verdict, Severity::warning)) << at << " " << scale << " " << in_words(verdict);
      EXPECT_NEAR(static_cast<double>(std::get<Observation>(verdict).first_step), at * 20000, 150);
    }
  }
}

TEST(LearningRateJump, AScheduleThatBeginsAgainIsAWarningWithoutHarmToTheLoss) {
  EXPECT_TRUE(found(with(resumed_rate(0.6), noisy(400, 0.01, 2, descent)), Severity::warning));
}

TEST(LearningRateJump, AtARestartItIsAWarningInAnyCase) {
  osler::Run run;
  record(run, "loss", noisy(400, 0.01, 3, descent), {.stride = 50});
  record(run, "lr", resumed_rate(0.6), {.stride = 50});
  run.add(Mark{Mark::Kind::restart, 12000, kNoTime, "resumed"});
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(LearningRateJump, AStepDecayThatIsForgottenIsFound) {
  const Values rate = curve(300, [](double x) { return x < 0.3 ? 0.1 : x < 0.6 ? 0.01 : 0.1; });
  const Values loss = noisy(300, 0.01, 4, [](double x) { return x > 0.3 && x < 0.6 ? 0.4 : 0.7; });
  EXPECT_TRUE(found(with(rate, loss), Severity::warning));
}

TEST(LearningRateJump, WarmRestartsAreBySchedule) {
  const Values loss =
      noisy(400, 0.01, 5, [](double x) { return descent(x) * (1 + 0.2 * cosine(std::fmod(4 * x, 1.0))); });
  for (const double bottom : {0.0, 0.01, 0.2}) {
    for (const double cycles : {1.7, 2.0, 3.0, 5.0}) {
      const Values rate =
          curve(400, [&](double x) { return 0.1 * (bottom + (1 - bottom) * cosine(std::fmod(cycles * x, 1.0))); });
      const Verdict verdict = with(rate, loss);
      EXPECT_TRUE(absent(verdict)) << bottom << " " << cycles << " " << in_words(verdict);
    }
  }
}

TEST(LearningRateJump, CyclesThatGrowAreBySchedule) {
  const Values rate = curve(700, [](double x) {
    const double t = 7 * x;
    const double within = t < 1 ? t : t < 3 ? (t - 1) / 2 : (t - 3) / 4;
    return 0.1 * (0.3 + 0.7 * cosine(within));
  });
  EXPECT_TRUE(absent(with(rate, noisy(700, 0.01, 6, descent))));
}

TEST(LearningRateJump, OrdinarySchedulesDoNotJump) {
  const Values loss = noisy(400, 0.02, 7, descent);
  const std::vector<std::function<double(double)>> schedules = {
      [](double) { return 1e-3; },
      [](double x) { return x < 0.05 ? 1e-3 * x / 0.05 : 1e-3 * cosine((x - 0.05) / 0.95); },
      [](double x) { return 0.1 * std::pow(0.1, std::floor(3.999 * x)); },
      [](double x) { return x < 0.3 ? 0.04 + 0.96 * cosine(1 - x / 0.3) : std::max(1e-4, cosine((x - 0.3) / 0.7)); },
      [](double x) { return std::abs(std::fmod(8 * x, 2.0) - 1) + 0.1; },
      [](double x) { return x < 0.01   ? 1e-5
                            : x < 0.02 ? 1e-4
                                       : 1e-3; },
  };
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const Verdict verdict = with(curve(400, schedules[i]), loss);
    EXPECT_TRUE(absent(verdict)) << i << " " << in_words(verdict);
  }
}

TEST(LearningRateJump, TheBiasesOfADetectorWarmDown) {
  osler::Run run;
  const Values loss = noisy(100, 0.01, 8, descent);
  const Values bias = curve(100, [](double x) { return x < 0.03 ? 0.1 - 3 * x : 0.01 * (1 - x); });
  const Values rest = curve(100, [](double x) { return x < 0.03 ? 0.3 * x : 0.01 * (1 - x); });
  record(run, "train/box_loss", loss);
  record(run, "x/lr0", bias);
  record(run, "x/lr1", rest);
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(LearningRateJump, TooFewRatesAreNotChecked) {
  osler::Run run;
  record(run, "lr", {1e-3, 1e-4, 1e-3});
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
}

}  // namespace
}  // namespace osler::sample
