// Floors: what should be low must not rise, everything else must not fall.
#include "score/floor.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace osler::score {
namespace {

class FloorTest : public testing::Test {
 protected:
  FloorTest() { std::ofstream(path_) << R"({"suite": {"found": 0.9, "false_alarms": 0.02}, "corpus": {"found": 1}})"; }
  ~FloorTest() override { std::filesystem::remove(path_); }

  std::vector<std::string> short_of(const nlohmann::json& measured) {
    const Result<std::vector<std::string>> found = shortfalls(measured, path_);
    return found ? *found : std::vector<std::string>{describe(found.error())};
  }

  // Tests run beside each other, each with a file of its own.
  std::string path_ =
      testing::TempDir() + "osler_floor_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST_F(FloorTest, SharesMustNotFallAndFalseAlarmsMustNotRise) {
  EXPECT_TRUE(short_of({{"suite", {{"found", 0.9}, {"false_alarms", 0.02}}}}).empty());
  EXPECT_EQ(short_of({{"suite", {{"found", 0.89}, {"false_alarms", 0.03}}}}).size(), 2U);
  EXPECT_TRUE(short_of({{"suite", {{"found", 1.0}, {"false_alarms", 0.0}}}}).empty());
}

TEST_F(FloorTest, WhatWasNotMeasuredIsNotChecked) {
  EXPECT_TRUE(short_of({{"suite", {{"found", 0.95}}}}).empty());
}

TEST_F(FloorTest, FiguresHaveTheErrorsOfCalibration) {
  const nlohmann::json values = floor_figures(tally({}));
  EXPECT_EQ(values.at("findings_calibration_error"), 0.0);
  EXPECT_FALSE(values.contains("found")) << "nothing out of nothing is no figure";
}

}  // namespace
}  // namespace osler::score
