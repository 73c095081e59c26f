// Experiments survive the way through a run's configuration, whatever stands in it.
#include "osler/run/experiment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace osler {
namespace {

Experiment range_test() {
  Experiment experiment;
  experiment.probe = "lr-range-test";
  experiment.step = 120;
  experiment.outcome = Experiment::Outcome::passed;
  experiment.verdict = "The loss falls fastest at 0.01.";
  experiment.values = {{"suggestion", 0.01, 0.004, 0.03},
                       {"divergence", std::numeric_limits<double>::infinity(), {}, {}}};
  experiment.columns = {{"learning-rate", {1e-7, 1e-3, 10}}, {"loss", {2.3, 1.9, 1e308}}};
  experiment.checks = {{"batches", Experiment::Outcome::failed, "one class holds 90 % of the samples"}};
  return experiment;
}

TEST(Experiment, IsTheSameAfterItsJson) {
  const auto read = experiment_from_json(to_json(range_test()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, range_test());
}

TEST(Experiment, KeepsNumbersThatAreNotFinite) {
  Experiment experiment = range_test();
  experiment.columns = {{"loss", {std::nan(""), -std::numeric_limits<double>::infinity()}}};
  const auto read = experiment_from_json(to_json(experiment));
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::isnan(read->columns[0].values[0]));
  EXPECT_EQ(read->columns[0].values[1], -std::numeric_limits<double>::infinity());
}

TEST(Experiment, IsFoundInTheRunThatKeepsIt) {
  osler::Run run;
  run.config("lr", "0.1");
  run.config(experiment_key("lr-range-test"), to_json(range_test()));
  run.config(experiment_key("curvature"), "{\"probe\":");
  ASSERT_EQ(experiments(run).size(), 1U) << "what cannot be read is left out";
  EXPECT_EQ(experiments(run).front(), range_test());
  EXPECT_EQ(experiment(run, "lr-range-test")->value("suggestion"), 0.01);
  EXPECT_EQ(experiment(run, "lr-range-test")->column("loss")->values.size(), 3U);
  EXPECT_EQ(experiment(run, "sharpness"), std::nullopt);
}

TEST(Experiment, RefusesWhatIsNone) {
  for (const char* text : {"", "[]", "7", "{}", "{\"probe\":3}", "{\"probe\":\"\"}", "\xff\xfe"}) {
    EXPECT_FALSE(experiment_from_json(text)) << text;
  }
  const auto odd = experiment_from_json(
      R"({"probe":"p","step":"x","outcome":7,"values":[3,{"name":"a"}],"columns":[{"name":"c","values":[1,null]}],"checks":{}})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->outcome, Experiment::Outcome::undecided);
  EXPECT_TRUE(odd->values.empty());
  ASSERT_EQ(odd->columns.size(), 1U);
  EXPECT_TRUE(std::isnan(odd->columns[0].values[1]));
}

TEST(Experiment, HasAKeyThatNoUserSettingHas) {
  EXPECT_TRUE(is_experiment_key(experiment_key("sharpness")));
  EXPECT_FALSE(is_experiment_key("lr"));
  EXPECT_FALSE(is_experiment_key("osler/check/mode"));
}

}  // namespace
}  // namespace osler
