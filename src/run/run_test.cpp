// A run: its series, restarts that concern all of them, and its memory under many series.
#include "osler/run/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace osler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::int64_t> steps_of(const Run& run, std::string_view name) {
  std::vector<std::int64_t> steps;
  const Series* series = run.find(name);
  if (series == nullptr) return steps;
  for (const Point& point : series->summary().recent()) steps.push_back(point.step);
  return steps;
}

std::vector<std::int64_t> restarts_of(const Run& run) {
  std::vector<std::int64_t> steps;
  for (const Mark& mark : run.marks()) {
    if (mark.kind == Mark::Kind::restart) steps.push_back(mark.step);
  }
  return steps;
}

void add(Run& run, std::string_view name, std::int64_t step, double value = 0) {
  run.add(Event{run.series(name), step, kNoTime, value});
}

/// Rows of a training log: the loss at every step, validation at every tenth, as most loggers write.
void train(Run& run, std::int64_t first, std::int64_t last, double value = 0) {
  for (std::int64_t step = first; step <= last; ++step) {
    add(run, "loss", step, value);
    if (step % 10 == 0) add(run, "val_loss", step, value);
  }
}

TEST(Run, NumbersItsSeriesInOrderOfAppearance) {
  osler::Run run;
  EXPECT_EQ(run.series("loss"), 0U);
  EXPECT_EQ(run.series("lr"), 1U);
  EXPECT_EQ(run.series("loss"), 0U);
  EXPECT_EQ(run.all_series().size(), 2U);
  EXPECT_EQ(run.find("lr")->name(), "lr");
  EXPECT_EQ(run.find("accuracy"), nullptr);
}

TEST(Run, TellsItsStepRangeOverAllSeries) {
  osler::Run run;
  EXPECT_EQ(run.steps().count, 0U);
  train(run, 5, 43);
  add(run, "final", 50);
  const StepRange range = run.steps();
  EXPECT_EQ(range.first, 5);
  EXPECT_EQ(range.last, 50);
  EXPECT_EQ(range.count, 39U);
}

TEST(Run, KeepsTheLastValueOfAConfigurationKey) {
  osler::Run run;
  run.config("lr", "0.1");
  run.config("batch", "32");
  run.config("lr", "0.01");
  EXPECT_EQ(run.configuration().at("lr"), "0.01");
  EXPECT_EQ(run.configuration().size(), 2U);
}

TEST(Run, GoesBackWithAllSeriesWhenOneMakesARestartClear) {
  osler::Run run;
  train(run, 1, 100, 1);
  train(run, 51, 57, 2);
  EXPECT_THAT(restarts_of(run), ElementsAre(51));
  EXPECT_EQ(run.find("loss")->summary().last_step(), 57);
  EXPECT_THAT(steps_of(run, "val_loss"), ElementsAre(10, 20, 30, 40, 50));
  train(run, 58, 75, 2);
  EXPECT_THAT(steps_of(run, "val_loss"), ElementsAre(10, 20, 30, 40, 50, 60, 70));
  EXPECT_EQ(run.find("val_loss")->summary().recent().back().value, 2);
  EXPECT_THAT(restarts_of(run), ElementsAre(51)) << "one restart, one mark";
}

TEST(Run, LetsTheLaterSegmentWinForASparseSeriesThatIsWrittenFirst) {
  osler::Run run;
  const auto row = [&](std::int64_t step, double value) {
    if (step % 10 == 0) add(run, "val_loss", step, value);
    add(run, "loss", step, value);
  };
  for (std::int64_t step = 5; step <= 100; step += 5) row(step, 1);
  for (std::int64_t step = 60; step <= 120; step += 5) row(step, 2);
  EXPECT_THAT(steps_of(run, "val_loss"), ElementsAre(10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120));
  EXPECT_EQ(run.find("val_loss")->summary().recent()[5].value, 2);
  EXPECT_THAT(restarts_of(run), ElementsAre(60));
}

TEST(Run, LetsAnEvaluationRightAfterResumingReplaceTheOldOne) {
  osler::Run run;
  train(run, 1, 100, 1);
  for (std::int64_t step = 51; step <= 53; ++step) add(run, "loss", step, 2);
  add(run, "val_loss", 50, 2);
  EXPECT_THAT(steps_of(run, "val_loss"), ElementsAre(10, 20, 30, 40, 50));
  EXPECT_EQ(run.find("val_loss")->summary().recent().back().value, 2);
  EXPECT_EQ(run.find("val_loss")->summary().points(), 5U);
}

TEST(Run, MarksEveryRoundOfACrashLoop) {
  osler::Run run;
  train(run, 1, 100, 0);
  for (int round = 1; round <= 3; ++round) train(run, 51, 100, round);
  EXPECT_THAT(restarts_of(run), ElementsAre(51, 51, 51));
  EXPECT_THAT(steps_of(run, "val_loss"), ElementsAre(10, 20, 30, 40, 50, 60, 70, 80, 90, 100));
  EXPECT_EQ(run.find("val_loss")->summary().recent()[5].value, 3);
  EXPECT_EQ(run.find("loss")->summary().points(), 100U);
}

TEST(Run, TellsARestartOnceWhenTheLogHasOneSeriesAfterAnother) {
  osler::Run run;
  for (const auto& [first, last] : {std::pair(1, 100), std::pair(51, 120)}) {
    for (std::int64_t step = first; step <= last; ++step) add(run, "loss", step, first);
  }
  for (const auto& [first, last] : {std::pair(10, 100), std::pair(60, 120)}) {
    for (std::int64_t step = first; step <= last; step += 10) add(run, "val_loss", step, first);
  }
  EXPECT_THAT(restarts_of(run), ElementsAre(51));
  EXPECT_EQ(run.find("loss")->summary().points(), 120U) << "the second series must not take the first one back";
  EXPECT_EQ(run.find("val_loss")->summary().points(), 12U);
  EXPECT_EQ(run.find("val_loss")->summary().recent()[5].value, 60);
}

TEST(Run, GoesBackToTheLongestLaunchWhenTheLastIsShort) {
  osler::Run run;
  train(run, 1, 100, 1);
  train(run, 1, 20, 2);
  EXPECT_EQ(run.find("loss")->summary().points(), 20U) << "as long as the log goes on, the newest launch counts";
  run.settle_launches();
  EXPECT_EQ(run.find("loss")->summary().points(), 100U);
  EXPECT_EQ(run.find("val_loss")->summary().recent().back().value, 1);
  EXPECT_THAT(run.marks().back().text, testing::HasSubstr("several launches"));
}

TEST(Run, StaysWithTheLastLaunchWhenItIsLong) {
  osler::Run run;
  train(run, 1, 100, 1);
  train(run, 1, 60, 2);
  run.settle_launches();
  EXPECT_EQ(run.find("loss")->summary().points(), 60U);
  EXPECT_THAT(run.marks().back().text, testing::HasSubstr("the last, of 60 points")) << "it says what was judged";
}

TEST(Run, GoesBackToTheLongerLaunchWhenBothAreShort) {
  osler::Run run;
  train(run, 1, 25, 1);
  train(run, 1, 20, 2);
  run.settle_launches();
  EXPECT_EQ(run.find("loss")->summary().points(), 25U);
  EXPECT_THAT(run.marks().back().text, testing::HasSubstr("the longest, of 25 points"));

  osler::Run alike;
  train(alike, 1, 22, 1);
  train(alike, 1, 20, 2);
  alike.settle_launches();
  EXPECT_EQ(alike.find("loss")->summary().points(), 20U) << "hardly longer: the newest counts";
}

TEST(Run, SaysNothingOfLaunchesWhereThereWasOne) {
  osler::Run run;
  train(run, 1, 60, 1);
  run.settle_launches();
  EXPECT_THAT(run.marks(), IsEmpty());
}

TEST(Run, NeverTakesAResumedTrainingForALaunch) {
  osler::Run run;
  train(run, 1, 100, 1);
  train(run, 11, 30, 2);
  run.settle_launches();
  EXPECT_EQ(run.find("loss")->summary().points(), 30U);
}

TEST(Run, SpreadsARestartEvenAfterVeryManyMarks) {
  osler::Run run;
  for (int i = 0; i < 5000; ++i) run.add(Mark{Mark::Kind::note, i, kNoTime, "checkpoint"});
  EXPECT_LE(run.marks().size(), 1000U);
  train(run, 1, 100);
  train(run, 51, 55);
  EXPECT_THAT(steps_of(run, "val_loss"), ElementsAre(10, 20, 30, 40, 50));
}

TEST(Run, StaysFastAndRightWhenTheLogGoesBackAllTheTime) {
  osler::Run run;
  for (int series = 0; series < 200; ++series) add(run, "layer" + std::to_string(series), 0);
  for (int round = 0; round < 20'000; ++round) {
    for (std::int64_t step = 1; step <= 4; ++step) add(run, "loss", step, round);
  }
  EXPECT_THAT(steps_of(run, "loss"), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(run.find("loss")->summary().recent().back().value, 19'999);
  EXPECT_LE(run.marks().size(), 1000U);
}

/// Buckets and exact points that all series of a run hold.
std::pair<std::size_t, std::size_t> held_by(const Run& run) {
  std::pair<std::size_t, std::size_t> held;
  for (const Series& series : run.all_series()) {
    held.first += series.summary().buckets().size();
    held.second += series.summary().recent().size();
  }
  return held;
}

TEST(Run, KeepsAHundredThousandSeriesInItsBudgetWhenTheyComeTogether) {
  osler::Run run(RunLimits{.per_series = {}, .buckets_in_all = 200'000, .recent_in_all = 300'000, .fewest_buckets = 4});
  constexpr int kSeries = 100'000;
  for (int series = 0; series < kSeries; ++series) run.series("s" + std::to_string(series));
  for (std::int64_t step = 0; step < 20; ++step) {
    for (SeriesId series = 0; series < kSeries; ++series) run.add(Event{series, step, kNoTime, 1.0});
  }
  const auto [buckets, recent] = held_by(run);
  EXPECT_LE(buckets, 4U * kSeries);
  EXPECT_LE(recent, 300'000U + kSeries) << "the newest point of each series comes on top";
  EXPECT_EQ(run.all_series().back().summary().points(), 20U);
}

TEST(Run, KeepsManySeriesInItsBudgetWhenTheyComeOneAfterAnother) {
  osler::Run run(RunLimits{.per_series = {}, .buckets_in_all = 50'000, .recent_in_all = 20'000, .fewest_buckets = 4});
  constexpr int kSeries = 5000;
  for (int series = 0; series < kSeries; ++series) {
    const SeriesId id = run.series("s" + std::to_string(series));
    for (std::int64_t step = 0; step < 3000; step += 3) run.add(Event{id, step, kNoTime, 1.0});
    if (series % 500 == 0) {
      const auto [buckets, recent] = held_by(run);
      ASSERT_LE(buckets, 2U * 50'000U) << "after " << series << " series";
      ASSERT_LE(recent, 2U * 20'000U + kSeries) << "after " << series << " series";
    }
  }
  for (const Series& series : run.all_series()) EXPECT_EQ(series.summary().total()->count, 1000U);
}

TEST(Run, LeavesOutSeriesBeyondItsLimitAndSaysSo) {
  osler::Run run(RunLimits{.per_series = {}, .most_series = 3});
  for (const char* name : {"a", "b", "c", "d", "e"}) add(run, name, 1, 2.5);
  add(run, "c", 2, 2.5);
  EXPECT_EQ(run.all_series().size(), 3U);
  EXPECT_EQ(run.find("d"), nullptr);
  EXPECT_EQ(run.find("c")->summary().points(), 2U);
  ASSERT_EQ(run.damage.total(), 1U);
  EXPECT_THAT(run.damage.items().front().what, HasSubstr("more than 3 series"));
}

TEST(Run, GoesBackWhenTheLogAnnouncesARestart) {
  osler::Run run;
  const SeriesId loss = run.series("loss");
  const SeriesId newer = run.series("newer");
  for (std::int64_t step = 0; step < 10; ++step) {
    run.add(Event{loss, step, 100.0 + static_cast<double>(step), 1.0});
    run.add(Event{newer, step, 500.0 + static_cast<double>(step), 1.0});
  }
  run.add(Mark{Mark::Kind::restart, 4, kNoTime, "without a time it is only kept"});
  EXPECT_EQ(run.find("loss")->summary().points(), 10U);
  run.add(Mark{Mark::Kind::restart, 4, 200.0, "resumed"});
  EXPECT_EQ(run.find("loss")->summary().points(), 4U);
  EXPECT_EQ(run.find("newer")->summary().points(), 10U) << "written after the restart";
  run.add(Event{loss, 4, 201.0, 2.0});
  EXPECT_EQ(run.find("loss")->summary().last_step(), 4);
  EXPECT_EQ(run.marks().size(), 2U);
}

TEST(Run, KeepsItsMarksAndConfigurationBounded) {
  osler::Run run;
  for (int i = 0; i < 20'000; ++i) run.config("key" + std::to_string(i), "value");
  EXPECT_EQ(run.configuration().size(), 10'000U);
  run.config("key5", "changed");
  EXPECT_EQ(run.configuration().at("key5"), "changed");
  EXPECT_THAT(run.marks(), IsEmpty());
}

}  // namespace
}  // namespace osler
