// What epoch-sawtooth says of losses that saw, step or stay smooth with the epochs.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "epoch-sawtooth";
constexpr std::size_t kRows = 400;
constexpr std::size_t kPerEpoch = 40;

/// A run whose loss is `shape(within)` times a descent, `within` being the progress inside the epoch.
Run sawing(const std::function<double(double)>& shape, double relative = 0.02, double scale = 1) {
  Noise noise(1);
  Values loss(kRows);
  Values epoch(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    const double within = static_cast<double>(i % kPerEpoch) / kPerEpoch;
    const double progress = static_cast<double>(i) / kRows;
    loss[i] = scale * descent(progress) * shape(within) * (1 + relative * noise.normal());
    epoch[i] = static_cast<double>(i / kPerEpoch);
  }
  osler::Run run;
  record(run, "loss", loss, {.stride = 10});
  record(run, "epoch", epoch, {.stride = 10});
  return run;
}

TEST(EpochSawtooth, ALeapAtEachBoundaryIsFound) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    const Verdict verdict = verdict_of(kId, sawing([](double w) { return 1 + 0.3 * (0.5 - w); }, 0.02, scale));
    EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  }
}

TEST(EpochSawtooth, AClimbWithinEachEpochIsANote) {
  EXPECT_TRUE(found(verdict_of(kId, sawing([](double w) { return 1 + 0.4 * w; })), Severity::note));
}

TEST(EpochSawtooth, BoundariesMayComeFromValidations) {
  const osler::Run with_epochs = sawing([](double w) { return 1 + 0.3 * (0.5 - w); });
  osler::Run run;
  Values loss;
  for (const Point& point : with_epochs.find("loss")->summary().recent()) loss.push_back(point.value);
  record(run, "loss", loss, {.first = 10, .stride = 10});
  record(run, "val_loss", curve(10, descent), {.first = 400, .stride = 400});
  const Verdict verdict = verdict_of(kId, run);
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).qualifiers.at("boundaries"), "validations");
}

TEST(EpochSawtooth, NoiseWithoutAPatternIsHealthy) {
  for (const double relative : {0.02, 0.1, 0.4}) {
    const Verdict verdict = verdict_of(kId, sawing([](double) { return 1.0; }, relative));
    EXPECT_TRUE(absent(verdict)) << relative << " " << in_words(verdict);
  }
}

TEST(EpochSawtooth, AStaircaseOfMemoryIsHealthy) {
  Noise noise(2);
  osler::Run run;
  Values loss(kRows);
  Values epoch(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    epoch[i] = static_cast<double>(i / kPerEpoch);
    loss[i] = 1.2 * std::pow(0.75, epoch[i]) * (1 + 0.03 * noise.normal());
  }
  record(run, "loss", loss);
  record(run, "epoch", epoch);
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(EpochSawtooth, RunningMeansThatStartAnewAreHealthy) {
  Noise noise(3);
  osler::Run run;
  Values loss(kRows);
  Values epoch(kRows);
  double sum = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::size_t within = i % kPerEpoch;
    const double raw = descent(static_cast<double>(i) / kRows) * (1 + 0.1 * noise.normal());
    sum = within == 0 ? raw : sum + raw;
    loss[i] = sum / static_cast<double>(within + 1);
    epoch[i] = static_cast<double>(i / kPerEpoch);
  }
  record(run, "loss", loss);
  record(run, "epoch", epoch);
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(EpochSawtooth, ARateThatRestartsWithEachEpochExplainsIt) {
  osler::Run run = sawing([](double w) { return 1 + 0.3 * (0.5 - w); });
  Values rate(kRows);
  for (std::size_t i = 0; i < kRows; ++i) rate[i] = 0.1 * (1.05 - static_cast<double>(i % kPerEpoch) / kPerEpoch);
  record(run, "lr", rate, {.stride = 10});
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(EpochSawtooth, OneRowPerEpochIsNotChecked) {
  osler::Run run;
  record(run, "loss", curve(60, descent));
  record(run, "epoch", curve(60, [](double x) { return std::round(59 * x); }));
  EXPECT_TRUE(unchecked(verdict_of(kId, run)));
}

/// A run of classes in a row: each batch unlearns what the last one taught.
Run answering(double taught) {
  osler::Run run;
  record(run, "train_loss", noisy(20, 0.02, 11, [](double x) { return 2.4 - 1.6 * x; }));
  record(run, "train_acc", curve(20, [&](double x) { return x < 0.4 ? taught : taught + (0.8 - taught) * (x - 0.4); }));
  record(run, "val_loss", noisy(20, 0.01, 12, [](double x) { return 2.2 - 1.3 * x; }));
  record(run, "val_acc", noisy(20, 0.02, 13, [](double x) { return 0.2 + 0.5 * x; }));
  return run;
}

TEST(EpochSawtooth, TrainingAnswersFarBelowAGuessAreSortedSamples) {
  const Verdict verdict = verdict_of(kId, answering(0.01));
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).qualifiers.at("kind"), "one-class-batches");
}

TEST(EpochSawtooth, DropoutAndWrongLabelsTakeHalfOfTheAnswersAtMost) {
  EXPECT_TRUE(no_alarm(verdict_of(kId, answering(0.12))));
}

TEST(EpochSawtooth, AnswersToSingleSamplesAreRightOrWrong) {
  osler::Run single;
  record(single, "train_loss", noisy(400, 0.02, 11, [](double x) { return 2.4 - 0.6 * x; }));
  record(single, "train_acc", curve(400, [](double x) { return std::fmod(x * 399 * 0.618, 1) < 0.3 ? 1.0 : 0.0; }));
  record(single, "val_loss", noisy(20, 0.01, 12, [](double x) { return 2.3 - 0.6 * x; }), {.stride = 20});
  record(single, "val_acc", noisy(20, 0.02, 13, [](double x) { return 0.2 + 0.1 * x; }), {.stride = 20});
  const Verdict verdict = verdict_of(kId, single);
  EXPECT_TRUE(no_alarm(verdict)) << in_words(verdict);
}

TEST(EpochSawtooth, AFirstEpochWorseThanItsOwnLossAllowsIsEnough) {
  // exp(-2.45) is 0.086: the right class had that probability on average, and was hardly ever the first choice.
  const auto after = [](double first) {
    osler::Run run;
    Values right = curve(25, [](double x) { return 0.14 + 0.8 * (1 - std::exp(-4 * x)); });
    right[0] = first;
    Values loss = curve(25, [](double x) { return 0.2 + 2.1 * std::exp(-4 * x); });
    loss[0] = 2.45;
    record(run, "train_loss", loss, {.first = 1});
    record(run, "train_acc", right, {.first = 1});
    record(run, "val_loss", curve(25, [](double x) { return 0.5 + 1.8 * std::exp(-4 * x); }), {.first = 1});
    record(run, "val_acc", curve(25, [](double x) { return 0.17 + 0.65 * (1 - std::exp(-4 * x)); }), {.first = 1});
    return verdict_of(kId, run);
  };
  const Verdict verdict = after(0.025);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_TRUE(no_alarm(after(0.08))) << "a guess among twelve";
}

}  // namespace
}  // namespace osler::sample
