// The card of a run: what thousands of which make up the list, small and with no spike lost.
#include "dashboard/card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace osler::dashboard {
namespace {

using Json = nlohmann::json;

const Run kEmpty;

Report report_of(const std::vector<double>& values) {
  Report report;
  Sketch sketch{.series = "train_loss", .role = "train-loss", .columns = {}};
  for (const double value : values) sketch.columns.push_back({.low = value, .high = value, .mean = value});
  report.sketches.push_back(std::move(sketch));
  return report;
}

Json spark_of(const Report& report) {
  return Json::parse(examined_card("id", "name", 0, kEmpty, report).json).at("spark");
}

TEST(Card, DrawsTheLossFromItsLowestToItsHighestValue) {
  const Json spark = spark_of(report_of({3, 2, 1}));
  EXPECT_EQ(spark.at("series"), "train_loss");
  EXPECT_EQ(spark.at("low"), "/gA");
  EXPECT_EQ(spark.at("high"), "/gA");
}

TEST(Card, DrawsDecadesOnALogarithmicScale) {
  EXPECT_EQ(spark_of(report_of({100, 10, 1})).at("low"), "/gA");
  EXPECT_EQ(spark_of(report_of({100, 10, -1})).at("low"), "/HA");  // which has no place for what is not positive
}

TEST(Card, KeepsASpikeOfOneColumnHoweverLongTheCurve) {
  std::vector<double> values(1'000, 1.0);
  values[613] = 9.0;
  const Json spark = spark_of(report_of(values));
  const std::string high = spark.at("high");
  EXPECT_EQ(high.size(), 60U);
  EXPECT_EQ(high.find('/'), 36U);
  EXPECT_EQ(std::count(high.begin(), high.end(), 'A'), 59);
  EXPECT_EQ(spark.at("low"), std::string(60, 'A'));
}

TEST(Card, LeavesGapsWhereNothingIsFinite) {
  const double nan = std::nan("");
  EXPECT_EQ(spark_of(report_of({2, nan, 1})).at("low"), "/.A");
  EXPECT_EQ(spark_of(report_of({nan, nan})).at("low"), "..");
  EXPECT_EQ(spark_of(report_of({5, 5, nan})).at("low"), "gg.");  // a flat line runs through the middle
  EXPECT_TRUE(spark_of(Report()).is_null());
}

TEST(Card, HoldsTheWidestRangeThereIs) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(spark_of(report_of({-most, 0, most})).at("low"), "Ag/");
}

TEST(Card, IsSmall) {
  const std::string json = examined_card("0123456789abcdef", "run-1234", 1e9, kEmpty, report_of({3, 2, 1})).json;
  std::vector<double> values;
  for (int i = 0; i < 1'000; ++i) values.push_back(1 + std::sin(i));
  const std::string longer = examined_card("0123456789abcdef", "run-1234", 1e9, kEmpty, report_of(values)).json;
  EXPECT_EQ(longer.size(), json.size() + 2 * (60 - 3));
}

TEST(Card, TellsTheLossThatTheReportTells) {
  osler::Run run;
  for (int step = 0; step < 100; ++step) run.add(Event{run.series("loss"), step, kNoTime, step == 99 ? 0.5 : 0.3});
  Report report = report_of({0.3, 0.3});
  report.roles["train-loss"] = {"loss"};
  report.metrics["final-train-loss"] = 0.31;
  EXPECT_EQ(Json::parse(examined_card("id", "name", 0, run, report).json).at("loss"), 0.31);
  run.add(Event{run.series("loss"), 100, kNoTime, std::nan("")});
  EXPECT_EQ(Json::parse(examined_card("id", "name", 0, run, report).json).at("loss"), "nan") << "which matters more";
  report.roles = {{"generator-loss", {"loss"}}};
  EXPECT_TRUE(Json::parse(examined_card("id", "name", 0, run, report).json).at("loss").is_null()) << "no loss, not NaN";
}

TEST(Card, HasConfigurationAndFiguresForColumns) {
  osler::Run run;
  run.config("lr", "0.1");
  run.config("prompt", std::string(1000, 'x'));
  Report report = report_of({3, 2, 1});
  report.metrics["best-validation-loss"] = 0.25;
  const Json row = Json::parse(examined_card("id", "name", 0, run, report).row);
  EXPECT_EQ(row.at("configuration"), Json({{"lr", "0.1"}}));
  EXPECT_EQ(row.at("metrics").at("best-validation-loss"), 0.25);
}

}  // namespace
}  // namespace osler::dashboard
