// The table of experiments names what exists, and moves the odds it should.
#include "diagnosis/experiments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "diagnosis/sample_run.h"
#include "osler/diagnosis/diagnose.h"

namespace osler {
namespace {

using Outcome = Experiment::Outcome;

TEST(Experiments, EveryRowNamesACauseAndGivesAReason) {
  for (const ExperimentRow& row : experiment_rows()) {
    SCOPED_TRACE(std::string(row.probe) + " " + std::string(row.cause) + " " + std::string(row.words));
    EXPECT_NE(find_cause(row.cause), nullptr);
    EXPECT_NE(row.weight, 0);
    EXPECT_FALSE(row.words.empty());
  }
}

double log_odds(const std::vector<Experiment>& experiments, std::string_view cause) {
  double sum = 0;
  for (const Clue& clue : experiment_clues(experiments, cause)) sum += clue.weight;
  return sum;
}

Experiment range_test(double present, double suggestion) {
  Experiment found;
  found.probe = "lr-range-test";
  found.outcome = Outcome::passed;
  found.values = {{"present", present, {}, {}}, {"suggestion", suggestion, suggestion / 2, suggestion * 2}};
  return found;
}

TEST(Experiments, ARangeTestSpeaksForOrAgainstTheRate) {
  EXPECT_GT(log_odds({range_test(1, 0.01)}, "lr-too-high"), 2);
  EXPECT_LT(log_odds({range_test(1, 0.01)}, "lr-too-low"), -2);
  EXPECT_GT(log_odds({range_test(1e-5, 0.01)}, "lr-too-low"), 2);
  EXPECT_LT(log_odds({range_test(1e-5, 0.01)}, "lr-too-high"), -2);
  EXPECT_LT(log_odds({range_test(0.01, 0.01)}, "lr-too-low"), -1);
  EXPECT_LT(log_odds({range_test(0.01, 0.01)}, "lr-too-high"), -1);
}

TEST(Experiments, OneThatWasStoppedOrLeftOpenSaysNothingOfTheRate) {
  Experiment found = range_test(1, 0.01);
  found.outcome = Outcome::stopped;
  EXPECT_EQ(log_odds({found}, "lr-too-high"), 0);
}

TEST(Experiments, MoveTheOddsOfAReport) {
  const auto probability = [](const Experiment* experiment) {
    osler::Run run;
    sample::record(run, "train/loss", sample::noisy(400, 0.005, 1, [](double) { return 2.3; }));
    if (experiment != nullptr) run.config(experiment_key(experiment->probe), to_json(*experiment));
    const Report report = *diagnose(run);
    const auto found = std::find_if(report.causes.begin(), report.causes.end(),
                                    [](const WeighedCause& cause) { return cause.cause == "lr-too-low"; });
    return found == report.causes.end() ? 0 : found->probability;
  };
  const double before = probability(nullptr);
  const Experiment low = range_test(1e-5, 0.01);
  const Experiment right = range_test(0.01, 0.01);
  EXPECT_GT(before, 0);
  EXPECT_GT(probability(&low), before);
  EXPECT_LT(probability(&right), before);
}

}  // namespace
}  // namespace osler
