// What the first sentence and the figures of a report say of a run in which nothing is wrong, or too little is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "osler/diagnosis/diagnose.h"

namespace osler {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A report on series of so many points, each given by its name and its value at a step.
struct Told {
  const char* name;
  double (*value)(int step);
};
Report report_on(int points, std::initializer_list<Told> series) {
  Run run;
  for (int step = 0; step < points; ++step) {
    for (const Told& told : series) run.add(Event{run.series(told.name), step, kNoTime, told.value(step)});
  }
  return *diagnose(run);
}

TEST(Headline, OfALongRunBeginsWhereTheLogDoes) {
  // Within the first of its 2,048 buckets the loss has fallen already.
  const Report report =
      report_on(100'000, {{"loss", [](int step) { return 2.1 + 8 * std::exp(-step / 10.0) + 0.001 * (step % 7); }}});
  EXPECT_THAT(report.headline, HasSubstr("went from 10.1 to 2.1"));
  EXPECT_DOUBLE_EQ(report.metrics.at("first-train-loss"), 10.1);
}

TEST(Headline, OfALongRunWhoseMetricRisesBeginsWhereTheLogDoes) {
  const Report report = report_on(100'000, {{"elbo", [](int step) { return -90 - 110 * std::exp(-step / 10.0); }}});
  EXPECT_DOUBLE_EQ(report.metrics.at("first-train-loss"), -200);
}

TEST(Headline, OfALongRunThatIsFarBelowItsTrueStartIsSound) {
  // Printed with four digits it is the same in the end, at a fifth of where it began.
  const Report report = report_on(
      1'000'000, {{"loss", [](int step) { return std::round(1e4 * (2.3 + 8.04 * std::exp(-step / 500.0))) / 1e4; }}});
  EXPECT_EQ(report.status, Status::healthy) << report.headline;
  EXPECT_THAT(report.headline, HasSubstr("went from 10.34 to 2.3"));
}

TEST(Headline, OfALossThatOnlyCameDownToGuessingTellsWhereItCameFrom) {
  const Report report =
      report_on(2'000, {{"loss", [](int step) { return 2.3026 + 3 * std::exp(-step / 2.0) + 0.001 * (step % 7); }}});
  EXPECT_THAT(report.headline, AllOf(HasSubstr("came down from 5.303 to 2.306"), Not(HasSubstr("from the start"))));
}

TEST(Headline, OfALossThatOnlyCameBackTellsWhereItHadBeen) {
  const Report report =
      report_on(200, {{"train_loss", [](int step) { return 0.5 + (step == 0 ? 0.0 : 3 * std::exp(-step / 25.0)); }},
                      {"train_accuracy", [](int step) { return 0.52 + 0.001 * (step % 3); }}});
  EXPECT_THAT(report.headline,
              AllOf(HasSubstr("came back to where it began: 0.5 at first"), HasSubstr(" at its highest")));
}

TEST(Headline, OfANoisyRunThatDivergedTellsLevelsAsLevels) {
  const Report report = report_on(300, {{"loss", [](int step) {
                                           const double noise = std::exp(std::sin(12.9898 * step));
                                           return noise * (step < 100 ? 0.05 + std::exp(-step / 15.0) : 40.0);
                                         }}});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings.front().finding, "loss-diverging");
  EXPECT_THAT(report.headline, AllOf(HasSubstr("climbed from about 0."), HasSubstr(" to about ")));
}

TEST(Headline, OfAShortRunBeginsWithItsFirstValue) {
  const Report report = report_on(100, {{"loss", [](int step) { return step == 0 ? 9.0 : 2.0 / (1 + step / 20.0); }}});
  EXPECT_EQ(report.metrics.at("first-train-loss"), 9) << "what a reader sees at the top of the log";
}

TEST(Headline, EndsWhereTheFiguresEnd) {
  const Report calm = report_on(200, {{"loss", [](int step) { return 2.0 / (1 + step / 20.0); }}});
  EXPECT_THAT(calm.headline, HasSubstr("to 0.1826."));
  EXPECT_DOUBLE_EQ(calm.metrics.at("final-train-loss"), 2.0 / (1 + 199 / 20.0))
      << "a calm curve ends with its last value";
  const Report noisy = report_on(400, {{"loss", [](int step) {
                                          const double noise =
                                              0.1 * std::remainder(43758.5453 * std::sin(12.9898 * step), 1) * 2;
                                          return step == 399 ? 0.45 : 0.5 + 2 / (1 + step / 20.0) + noise;
                                        }}});
  EXPECT_THAT(noisy.headline, HasSubstr("to about 0."));
  EXPECT_NEAR(noisy.metrics.at("final-train-loss"), 0.6, 0.05) << "of a noisy one the last value is a matter of luck";
}

TEST(Headline, OfASinglePointSaysThatPointsAreMissing) {
  const Report report = report_on(1, {{"loss", [](int) { return 1.5; }}});
  EXPECT_EQ(report.status, Status::insufficient_data);
  EXPECT_THAT(report.headline, HasSubstr("Too few points"));
  for (const NotRun& check : report.checks_not_run) {
    EXPECT_THAT(check.reason, Not(HasSubstr("no loss series"))) << check.finding;
  }
}

TEST(Headline, OfAnUnknownColumnSaysThatNothingWasRecognised) {
  const Report report = report_on(100, {{"zebra", [](int step) { return 1.0 * step; }}});
  EXPECT_EQ(report.status, Status::insufficient_data);
  EXPECT_THAT(report.headline, HasSubstr("No loss, reward or metric was recognised"));
}

TEST(Headline, OfAGanIsAVerdictOnItsBalance) {
  const Report report = report_on(300, {{"g_loss", [](int step) { return 1 + 0.1 * std::sin(step * 1.7); }},
                                        {"d_loss", [](int step) { return 0.7 + 0.05 * std::sin(step * 2.3); }}});
  EXPECT_EQ(report.status, Status::healthy);
  EXPECT_THAT(report.headline, HasSubstr("Nothing wrong was found"));
}

TEST(Headline, OfAnActorAndACriticAloneAsksForAReward) {
  const Report report = report_on(300, {{"actor_loss", [](int step) { return -1 - 0.01 * step; }},
                                        {"critic_loss", [](int step) { return std::exp(-step / 100.0); }}});
  EXPECT_EQ(report.status, Status::insufficient_data);
  EXPECT_THAT(report.headline, AllOf(HasSubstr("reward"), Not(HasSubstr("No loss"))));
}

}  // namespace
}  // namespace osler
