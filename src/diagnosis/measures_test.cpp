// Measures: each one says what it is, takes what it says, and is read beside healthy runs.
#include "osler/diagnosis/measures.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "diagnosis/sample_run.h"
#include "osler/diagnosis/diagnose.h"

namespace osler {
namespace {

using sample::curve;
using sample::record;

std::optional<double> taken(const osler::Run& run, const std::string& id) {
  const Result<MeasuredRun> measured = measure(run);
  if (!measured || measured->values.count(id) == 0) return std::nullopt;
  return measured->values.at(id);
}

MeasuredRun norm_of(double value, std::vector<std::string> strata) {
  return {std::move(strata), {{"gradient-norm", value}}};
}

TEST(Measures, EachSaysWhatItIs) {
  ASSERT_GE(measure_kinds().size(), 15U);
  for (const auto& [stem, kind] : measure_kinds()) {
    std::string id(stem);
    std::replace(id.begin(), id.end(), '_', '-');
    EXPECT_EQ(kind.id, id) << "the id is the name of the file";
    EXPECT_FALSE(kind.title.empty()) << id;
    EXPECT_TRUE(kind.sentence.ends_with('.')) << id;
    EXPECT_FALSE(kind.valid.empty()) << id;
    EXPECT_EQ(find_measure(id)->take, kind.take);
  }
  EXPECT_EQ(find_measure("no-such-measure"), nullptr);
}

TEST(Measures, NoneIsTakenOfARunWithoutNumbers) {
  const Result<MeasuredRun> measured = measure(osler::Run{});
  ASSERT_TRUE(measured);
  EXPECT_TRUE(measured->values.empty());
}

TEST(Measures, AFreshClassifierStartsAtOneTimesChance) {
  osler::Run run;
  run.config("num_classes", "10");
  record(run, "train_loss", curve(50, [](double x) { return 2.3026 - x; }));
  EXPECT_NEAR(taken(run, "first-loss-over-chance").value_or(0), 1, 0.01);
  osler::Run unknown;
  record(unknown, "train_loss", curve(50, [](double x) { return 2.3026 - x; }));
  EXPECT_EQ(taken(unknown, "first-loss-over-chance"), std::nullopt) << "nobody says how many classes there are";
}

TEST(Measures, AnOvershootingLossTurnsBackAtEveryStep) {
  osler::Run run;
  int i = 0;
  record(run, "train_loss", curve(60, [&](double) { return ++i % 2 == 0 ? 1.0 : 2.0; }));
  EXPECT_GT(taken(run, "sign-flips").value_or(0), 0.95);
  EXPECT_LT(taken(run, "lag-one-correlation").value_or(0), -0.5);
  osler::Run noisy;
  record(noisy, "train_loss", sample::noisy(400, 0.1, 3, [](double) { return 1.0; }));
  EXPECT_NEAR(taken(noisy, "sign-flips").value_or(0), 2.0 / 3, 0.07);
}

TEST(Measures, GradientsThatAreNeverClearedGrowSteadily) {
  osler::Run run;
  record(run, "train_loss", curve(60, sample::descent));
  record(run, "grad_norm", curve(60, [](double x) { return 1 + 99 * x; }));
  EXPECT_NEAR(taken(run, "gradient-norm-trend").value_or(0), 1, 1e-9);
  EXPECT_GT(taken(run, "gradient-norm-growth").value_or(0), 3);
}

TEST(Measures, ValidationThatTurnsUpIsMeasured) {
  osler::Run run;
  record(run, "train_loss", curve(60, [](double x) { return 2 - 1.8 * x; }));
  record(run, "val_loss", curve(60, [](double x) { return x < 0.5 ? 2 - 2 * x : 1 + (x - 0.5); }));
  EXPECT_NEAR(taken(run, "since-the-best").value_or(0), 0.5, 0.05);
  EXPECT_NEAR(taken(run, "rise-from-best").value_or(0), 0.45, 0.1);
  EXPECT_GT(taken(run, "validation-gap").value_or(0), 0.5);
}

TEST(Measures, TheRateIsComparedWithWhatIsUsualForTheOptimizer) {
  osler::Run run;
  run.config("optimizer", "AdamW");
  record(run, "train_loss", curve(60, sample::descent));
  record(run, "lr", curve(60, [](double) { return 0.03; }));
  EXPECT_NEAR(taken(run, "rate-over-usual").value_or(0), 30, 1e-6);
  EXPECT_NEAR(taken(run, "rate-left").value_or(0), 1, 1e-6);
}

TEST(ReferenceRanges, AValueHasItsPlaceAmongHealthyRuns) {
  std::vector<MeasuredRun> healthy;
  for (int i = 0; i <= 100; ++i) healthy.push_back(norm_of(i, {"classifiers", "trainings"}));
  const ReferenceRanges ranges = learn_ranges(healthy, 20);
  const auto place = [&](double value) {
    return compared(norm_of(value, {"classifiers", "trainings"}), ranges).front();
  };
  EXPECT_NEAR(place(50).quantile.value_or(-1), 0.5, 1e-9);
  EXPECT_NEAR(place(97).quantile.value_or(-1), 0.97, 0.01);
  EXPECT_EQ(place(1000).quantile, 1);
  EXPECT_EQ(place(-1).quantile, 0);
  EXPECT_EQ(place(50).runs, 101U);
  EXPECT_EQ(place(50).among, "classifiers");
}

TEST(ReferenceRanges, TheNarrowestGroupWithEnoughRunsIsTaken) {
  std::vector<MeasuredRun> healthy;
  for (int i = 0; i < 30; ++i) healthy.push_back(norm_of(i, {"classifiers", "trainings"}));
  for (int i = 0; i < 10; ++i) healthy.push_back(norm_of(100 + i, {"agents", "trainings"}));
  const ReferenceRanges ranges = learn_ranges(healthy, 20);
  EXPECT_EQ(compared(norm_of(5, {"classifiers", "trainings"}), ranges).front().among, "classifiers");
  const Measured agent = compared(norm_of(5, {"agents", "trainings"}), ranges).front();
  EXPECT_EQ(agent.among, "trainings");
  EXPECT_EQ(agent.runs, 40U);
  EXPECT_EQ(compared(norm_of(5, {"elsewhere"}), ranges).front().quantile, std::nullopt);
}

TEST(ReferenceRanges, TheLevelsRiseFromNothingToAll) {
  const std::span<const double> levels = reference_levels();
  EXPECT_EQ(levels.front(), 0);
  EXPECT_EQ(levels.back(), 1);
  EXPECT_TRUE(std::is_sorted(levels.begin(), levels.end()));
}

TEST(ReferenceRanges, TheBuiltInOnesAreInOrder) {
  EXPECT_FALSE(built_in_ranges().rows.empty());
  for (const ReferenceRow& row : built_in_ranges().rows) {
    EXPECT_NE(find_measure(row.measure), nullptr) << row.measure;
    EXPECT_GE(row.runs, 20U) << row.measure << " " << row.stratum;
    EXPECT_TRUE(std::is_sorted(row.quantiles.begin(), row.quantiles.end())) << row.measure << " " << row.stratum;
  }
}

TEST(ReferenceRanges, AReportReadsTheRunBesideTheBaselineItIsGiven) {
  osler::Run run;
  record(run, "train_loss", curve(60, sample::descent));
  record(run, "grad_norm", curve(60, [](double) { return 924.0; }));
  std::vector<MeasuredRun> healthy;
  for (int i = 0; i < 20; ++i) healthy.push_back(norm_of(i, {"trainings"}));
  DiagnosisOptions options;
  options.baseline = learn_ranges(healthy, 20);
  options.baseline->name = "ours";
  const Result<Report> report = diagnose(run, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->reference, "ours");
  const auto norm = std::find_if(report->measures.begin(), report->measures.end(),
                                 [](const Measured& each) { return each.measure == "gradient-norm"; });
  ASSERT_NE(norm, report->measures.end());
  EXPECT_EQ(norm->quantile, 1);
  EXPECT_EQ(norm->runs, 20U);
}

}  // namespace
}  // namespace osler
