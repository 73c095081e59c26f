// The SARIF report has what scanners of it need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "osler/base/version.h"
#include "osler/report/render.h"
#include "report/sample_reports.h"

namespace osler {
namespace {

using Json = nlohmann::ordered_json;

Json log_of(const std::vector<Report>& reports) {
  return Json::parse(render_sarif(reports));
}

TEST(Sarif, IsAVersion210LogOfOneRunOfOsler) {
  const Json log = log_of({samples::nan_run()});
  EXPECT_EQ(log["version"], "2.1.0");
  ASSERT_EQ(log["runs"].size(), 1u);
  EXPECT_EQ(log["runs"][0]["tool"]["driver"]["name"], "osler");
  EXPECT_EQ(log["runs"][0]["tool"]["driver"]["version"], version());
}

TEST(Sarif, HasARuleForEveryFindingOfTheCatalogue) {
  const Json log = log_of({});
  const Json& rules = log["runs"][0]["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), findings().size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(rules[i]["id"], findings()[i].descriptor.id);
    EXPECT_EQ(rules[i]["shortDescription"]["text"], findings()[i].descriptor.title);
  }
}

TEST(Sarif, HasAResultPerFindingWithLevelPlaceAndSteps) {
  const Json log = log_of({samples::nan_run(), samples::overfitting_run(), samples::healthy_run()});
  const Json& results = log["runs"][0]["results"];
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]["ruleId"], "loss-nonfinite-later");
  EXPECT_EQ(results[0]["level"], "error");
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "runs/exp42/metrics.csv");
  EXPECT_EQ(results[0]["properties"]["firstStep"], 4102);
  EXPECT_EQ(results[2]["level"], "warning");
  const Json& rules = log["runs"][0]["tool"]["driver"]["rules"];
  for (const Json& result : results) {
    if (result.contains("ruleIndex")) {
      EXPECT_EQ(rules.at(result["ruleIndex"].get<std::size_t>())["id"], result["ruleId"]);
    }
  }
}

TEST(Sarif, EscapesPathsAsUris) {
  Report report = samples::nan_run();
  report.sources = {"my runs/50%\xff.csv"};
  EXPECT_EQ(log_of({report})["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "my%20runs/50%25%FF.csv");
  report.sources = {"/tmp/a.csv"};
  EXPECT_EQ(log_of({report})["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///tmp/a.csv");
}

TEST(Sarif, NotifiesOfRunsThatCouldNotBeJudgedAndOfDamage) {
  Report damaged = samples::healthy_run();
  damaged.damage.add({"run.csv", 812, 17, "not a number", 40});
  const Json log = log_of({samples::insufficient_run(), damaged});
  const Json& notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_THAT(notes[0]["message"]["text"].get<std::string>(), testing::HasSubstr("Only 4 points"));
  EXPECT_EQ(notes[1]["message"]["text"], "run.csv line 17: not a number");
}

TEST(Sarif, SurvivesHostileNames) {
  EXPECT_EQ(log_of({samples::hostile_run()})["runs"][0]["results"].size(), 2u);
}

}  // namespace
}  // namespace osler
