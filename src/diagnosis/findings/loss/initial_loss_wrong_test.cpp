// What initial-loss-wrong says of the first losses of classifiers.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "initial-loss-wrong";
const double kChance = std::log(10.0);

/// Starts at `first` and is down at an ordinary level after a few rows.
Values hockey_stick(double first) {
  return noisy(300, 0.02, 1,
               [&](double x) { return kChance * (0.3 + 0.7 * std::exp(-4 * x)) + first * std::exp(-150 * x); });
}

Run classifier(const Values& loss, bool per_cent = false) {
  osler::Run run;
  record(run, "loss", loss);
  record(run, "accuracy", times(noisy(300, 0.02, 2, [](double x) { return 0.1 + 0.7 * x; }), per_cent ? 100 : 1));
  return run;
}

TEST(InitialLossWrong, AHockeyStickIsFound) {
  for (const bool per_cent : {false, true}) {
    const Verdict verdict = verdict_of(kId, classifier(hockey_stick(60), per_cent));
    ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  }
}

TEST(InitialLossWrong, TheNumberOfClassesMayComeFromTheConfiguration) {
  osler::Run run;
  record(run, "loss", hockey_stick(60));
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
  run.config("num_classes", "10");
  const Verdict verdict = verdict_of(kId, run);
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).qualifiers.at("classes"), "10");
}

TEST(InitialLossWrong, StartingAtChanceIsHealthy) {
  EXPECT_TRUE(absent(verdict_of(kId, classifier(hockey_stick(0)))));
  EXPECT_TRUE(absent(verdict_of(kId, classifier(hockey_stick(2)))));
}

TEST(InitialLossWrong, ALossThatIsASumIsLargerAllAlong) {
  EXPECT_TRUE(absent(verdict_of(kId, classifier(times(hockey_stick(0), 128)))));
}

TEST(InitialLossWrong, APenaltyThatShrinksSlowlyIsNoHockeyStick) {
  EXPECT_TRUE(
      absent(verdict_of(kId, classifier(noisy(300, 0.02, 3, [](double x) { return 2 + 15 * std::exp(-4 * x); })))));
}

TEST(InitialLossWrong, FineTuningOfAGoodModelIsHealthy) {
  osler::Run run;
  record(run, "loss", noisy(300, 0.1, 4, [](double x) { return 0.4 - 0.2 * x; }));
  record(run, "accuracy", noisy(300, 0.01, 5, [](double x) { return 0.9 + 0.05 * x; }));
  EXPECT_FALSE(std::holds_alternative<Observation>(verdict_of(kId, run)));
}

TEST(InitialLossWrong, RegressionIsNotChecked) {
  osler::Run run;
  record(run, "loss", hockey_stick(1e4));
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
}

TEST(InitialLossWrong, TheMeanOfAnEpochIsNoLuckyValue) {
  // The first row stands for hundreds of steps, and the next one is down already.
  const Values loss = {7.28, 1.33, 1.2, 1.18, 1.14, 1.09, 1.07, 1.05, 1.02, 0.97, 0.94, 0.92, 0.91, 0.87};
  osler::Run run;
  record(run, "train_loss", loss, {.first = 1});
  record(run, "train_acc", curve(14, [](double x) { return 0.36 + 0.3 * x; }), {.first = 1});
  EXPECT_TRUE(no_alarm(verdict_of(kId, run))) << "one value may be anything";
  record(run, "val_loss", curve(14, [](double x) { return 1.5 - 0.5 * x; }), {.first = 1});
  record(run, "val_acc", curve(14, [](double x) { return 0.37 + 0.3 * x; }), {.first = 1});
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

}  // namespace
}  // namespace osler::sample
