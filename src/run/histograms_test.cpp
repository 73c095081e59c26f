// The histograms of a run stay few, spread over the run, and follow a restart.
#include "osler/run/histograms.h"

#include <gtest/gtest.h>

#include "osler/run/run.h"

namespace osler {
namespace {

Histogram at(std::int64_t step, SeriesId series = 0, std::size_t bins = 10) {
  Histogram histogram;
  histogram.series = series;
  histogram.step = step;
  histogram.limits.assign(bins, 0);
  histogram.counts.assign(bins, static_cast<double>(step));
  return histogram;
}

TEST(HistogramShelf, KeepsFewSpreadOverTheRun) {
  HistogramShelf shelf({64, 1'000'000});
  for (std::int64_t step = 0; step < 10'000; ++step) shelf.add(at(step));
  const auto& kept = shelf.all().at(0);
  ASSERT_GE(kept.size(), 32U);
  ASSERT_LE(kept.size(), 64U);
  EXPECT_EQ(kept.front().step, 0);
  EXPECT_GT(kept.back().step, 9'500);
  const std::int64_t pace = kept[1].step - kept[0].step;
  for (std::size_t i = 1; i < kept.size(); ++i) EXPECT_EQ(kept[i].step - kept[i - 1].step, pace);
}

TEST(HistogramShelf, IsBoundedOverAllSeries) {
  HistogramShelf shelf({64, 1000});
  for (std::int64_t step = 0; step < 100; ++step) {
    for (SeriesId series = 0; series < 80; ++series) shelf.add(at(step, series));
  }
  std::size_t bins = 0;
  for (const auto& [series, histograms] : shelf.all()) {
    for (const Histogram& histogram : histograms) bins += histogram.limits.size();
  }
  EXPECT_LE(bins, 1000U);
  EXPECT_GT(bins, 500U);
}

TEST(HistogramShelf, ForgetsWhatARestartTakesBack) {
  osler::Run run;
  const SeriesId series = run.series("gradients/fc1");
  for (std::int64_t step = 0; step < 20; ++step) run.distribution(at(step, series));
  run.distribution(at(10, series));
  const auto& kept = run.histograms().at(series);
  ASSERT_EQ(kept.size(), 11U);
  EXPECT_EQ(kept.back().step, 10);
}

}  // namespace
}  // namespace osler
