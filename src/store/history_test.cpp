// When a finding of a run begins, stays and goes, from one report to the next.
#include "store/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace osler::store {
namespace {

constexpr std::uint64_t kRun = 7;

Report report_with(const std::vector<std::string>& findings, std::int64_t step) {
  Report report;
  for (const std::string& finding : findings) {
    Observation seen;
    seen.finding = finding;
    seen.severity = Severity::critical;
    seen.first_step = step;
    seen.evidence.push_back({.series = "loss", .text = {}});
    report.findings.push_back(seen);
  }
  return report;
}

Run run_with_times() {
  Run run;
  const SeriesId loss = run.series("loss");
  for (int step = 0; step < 100; ++step) run.add(Event{loss, step, 1000.0 + step, 1.0});
  return run;
}

TEST(History, BeginsAnEpisodeWithTheTimeOfItsStep) {
  const auto run = run_with_times();
  const HistoryChange change = change_of_history(kRun, {}, run, report_with({"loss-diverging"}, 40), 5000);
  ASSERT_EQ(change.rows.size(), 1U);
  EXPECT_EQ(change.rows[0].began, 1040);
  EXPECT_EQ(change.rows[0].seen, 5000);
  EXPECT_EQ(change.rows[0].gone, 0);
  EXPECT_EQ(change.fresh.size(), 1U);
  EXPECT_FALSE(change.same);
}

TEST(History, KeepsTheMomentInWhichItWasSeen) {
  const auto run = run_with_times();
  const auto first = change_of_history(kRun, {}, run, report_with({"loss-diverging"}, 40), 5000);
  const auto second = change_of_history(kRun, first.rows, run, report_with({"loss-diverging"}, 42), 6000);
  ASSERT_EQ(second.rows.size(), 1U);
  EXPECT_EQ(second.rows[0].seen, 5000);
  EXPECT_EQ(second.rows[0].first_step, 42);
  EXPECT_EQ(second.rows[0].number, 0U);
  EXPECT_TRUE(second.fresh.empty());
  EXPECT_TRUE(second.same);
}

TEST(History, EndsAnEpisodeAndBeginsAnother) {
  const auto run = run_with_times();
  const auto sick = change_of_history(kRun, {}, run, report_with({"loss-diverging"}, 40), 5000);
  const auto well = change_of_history(kRun, sick.rows, run, report_with({}, 0), 6000);
  ASSERT_EQ(well.rows.size(), 1U);
  EXPECT_EQ(well.rows[0].gone, 6000);
  EXPECT_FALSE(well.same);
  const auto again = change_of_history(kRun, well.rows, run, report_with({"loss-diverging"}, 80), 7000);
  ASSERT_EQ(again.rows.size(), 1U);
  EXPECT_EQ(again.rows[0].number, 1U);
  EXPECT_EQ(again.rows[0].seen, 7000);
  EXPECT_EQ(again.fresh.size(), 1U);
}

}  // namespace
}  // namespace osler::store
