// osler baseline: learning from someone's own runs, showing what was learned, and diagnosing beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace osler::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BaselineTest : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome osler(std::vector<std::string> arguments) const {
    Call call;
    call.arguments = std::move(arguments);
    call.folder = folder_.path();
    return run(call);
  }

  void write_runs(int healthy, int sick) const {
    for (int i = 0; i < healthy; ++i) folder_.write("runs/good" + std::to_string(i) + "/metrics.csv", healthy_csv());
    for (int i = 0; i < sick; ++i) folder_.write("runs/bad" + std::to_string(i) + "/metrics.csv", nan_csv());
  }

  Folder folder_;
};

TEST_F(BaselineTest, IsLearnedFromHealthyRunsAndCitedInReports) {
  write_runs(6, 1);
  const Outcome learned = osler({"baseline", "learn", "runs", "-o", "team.json"});
  EXPECT_EQ(learned.exit_code, 0) << learned.err;
  EXPECT_THAT(learned.out, HasSubstr("learned from 6 of 7 runs"));
  EXPECT_THAT(learned.err, HasSubstr("left out")) << "a sick run is no example";
  const Outcome shown = osler({"baseline", "show", "team.json"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("team: 6 runs"), HasSubstr("gain-share")));
  const std::string log = folder_.write("new.csv", healthy_csv());
  const Outcome report = osler({"diagnose", log, "--baseline", "team.json", "--json"});
  const nlohmann::json json = nlohmann::json::parse(report.out);
  EXPECT_EQ(json["reference"], "team");
  ASSERT_FALSE(json["measures"].empty());
  EXPECT_EQ(json["measures"][0]["runs"], 6);
}

TEST_F(BaselineTest, FewRunsHaveNoRange) {
  write_runs(3, 0);
  const Outcome learned = osler({"baseline", "learn", "runs", "-o", "team.json"});
  EXPECT_EQ(learned.exit_code, 2);
  EXPECT_THAT(learned.err, HasSubstr("at least 5 are needed"));
}

TEST_F(BaselineTest, AFileThatIsNoBaselineIsRefused) {
  const std::string log = folder_.write("run.csv", healthy_csv());
  const std::string other = folder_.write("other.json", "{}");
  const Outcome shown = osler({"baseline", "show", other});
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_THAT(shown.err, HasSubstr("this is no baseline"));
  EXPECT_EQ(osler({"diagnose", log, "--baseline", other}).exit_code, 2);
  EXPECT_EQ(osler({"diagnose", log, "--baseline", "missing.json"}).exit_code, 2);
}

TEST_F(BaselineTest, WithoutAFileTheRangesThatOslerComesWithAreShown) {
  const Outcome shown = osler({"baseline", "show"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("Healthy runs that Osler comes with"), HasSubstr("gradient-norm")));
}

}  // namespace
}  // namespace osler::tests
