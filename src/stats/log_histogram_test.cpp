// Bins have fixed edges, histograms add up, and quantiles land in the right octave.
#include "osler/stats/log_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stats/test_tensors.h"

namespace osler::stats {
namespace {

TEST(LogHistogram, BinsAreOctaves) {
  EXPECT_EQ(LogHistogram::bin_of(1.0), 127u);
  EXPECT_EQ(LogHistogram::bin_of(-1.999), 127u);
  EXPECT_EQ(LogHistogram::bin_of(2.0), 128u);
  EXPECT_EQ(LogHistogram::bin_of(0x1p-126), 1u);
  EXPECT_EQ(LogHistogram::bin_of(0x1p-127), 0u);
  EXPECT_EQ(LogHistogram::bin_of(5e-324), 0u);
  EXPECT_EQ(LogHistogram::bin_of(3.4e38), 254u);
  EXPECT_EQ(LogHistogram::bin_of(1e300), 255u);
  for (std::size_t bin = 1; bin < LogHistogram::kBins; ++bin) {
    EXPECT_EQ(LogHistogram::bin_of(LogHistogram::lower_edge(bin)), bin);
  }
  EXPECT_EQ(LogHistogram::lower_edge(0), 0);
}

TEST(LogHistogram, QuantilesAreInTheOctaveOfTheTrueOnes) {
  std::mt19937 random(7);
  std::normal_distribution<float> distribution(0.01f, 0.03f);
  std::vector<float> values(20001);
  for (float& x : values) x = random() % 10 == 0 ? 0.0f : distribution(random);
  Batch batch;
  batch.summarize(TensorView::of(values), {.histogram = true});
  run_here(batch);
  const LogHistogram& histogram = batch.histogram(0);
  EXPECT_EQ(histogram.total(), values.size());

  std::vector<float> magnitudes = values;
  for (float& x : magnitudes) x = std::abs(x);
  std::sort(values.begin(), values.end());
  std::sort(magnitudes.begin(), magnitudes.end());
  const auto expect_same_octave = [](double got, double want) {
    if (want == 0) {
      EXPECT_EQ(got, 0);
    } else {
      EXPECT_EQ(std::signbit(got), std::signbit(want));
      EXPECT_EQ(LogHistogram::bin_of(got), LogHistogram::bin_of(want)) << got << " for " << want;
    }
  };
  for (const double q : {0.0, 0.001, 0.05, 0.25, 0.34, 0.5, 0.75, 0.95, 0.999, 1.0}) {
    SCOPED_TRACE(q);
    const auto rank = static_cast<std::size_t>(q * 20000);
    expect_same_octave(histogram.quantile(q), values[rank]);
    expect_same_octave(histogram.magnitude_quantile(q), magnitudes[rank]);
  }
}

TEST(LogHistogram, QuantilesGrowWithTheirRank) {
  std::mt19937 random(8);
  std::normal_distribution<double> distribution(0, 3);
  LogHistogram histogram;
  for (int i = 0; i < 1000; ++i) {
    const double x = distribution(random);
    ++(x < 0 ? histogram.negative : histogram.positive)[LogHistogram::bin_of(x)];
  }
  double before = -std::numeric_limits<double>::infinity();
  for (double q = 0; q <= 1; q += 0.001) {
    EXPECT_GE(histogram.quantile(q), before);
    before = histogram.quantile(q);
  }
}

TEST(LogHistogram, MergedIsTheHistogramOfAll) {
  std::vector<double> values = {1, -2, 0, 3e-3, -1e300, 1e-310, 7, 7.5};
  Batch batch;
  batch.summarize(TensorView::of(values), {.histogram = true});
  batch.summarize(TensorView::of(std::span(values).first(3)), {.histogram = true});
  batch.summarize(TensorView::of(std::span(values).subspan(3)), {.histogram = true});
  run_here(batch);
  LogHistogram merged = batch.histogram(1);
  merged.merge(batch.histogram(2));
  EXPECT_EQ(merged, batch.histogram(0));
  EXPECT_TRUE(std::isnan(LogHistogram{}.quantile(0.5)));
  EXPECT_EQ(merged.quantile(0), -0x1p128) << "beyond float, only the edge of the last bin is known";
}

}  // namespace
}  // namespace osler::stats
