// Baselines: what is written is read back, and what is no baseline is refused.
#include "osler/report/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace osler {
namespace {

using testing::HasSubstr;

ReferenceRanges ten_runs() {
  std::vector<MeasuredRun> runs;
  for (int i = 0; i < 10; ++i) runs.push_back({{"classifiers", "trainings"}, {{"gradient-norm", 1.0 + i}}});
  ReferenceRanges ranges = learn_ranges(runs, 5);
  ranges.name = "our vision team";
  return ranges;
}

TEST(Baseline, IsReadBackAsItWasWritten) {
  const ReferenceRanges written = ten_runs();
  const Result<ReferenceRanges> read = parse_baseline(render_baseline(written), "team.json");
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->name, "our vision team");
  EXPECT_EQ(read->runs, 10U);
  ASSERT_EQ(read->rows.size(), 2U);
  EXPECT_EQ(read->rows[0].stratum, "classifiers");
  EXPECT_EQ(read->rows[0].quantiles, written.rows[0].quantiles);
}

TEST(Baseline, WhatIsNoBaselineIsRefused) {
  EXPECT_FALSE(parse_baseline("", "x.json"));
  EXPECT_FALSE(parse_baseline("[]", "x.json"));
  EXPECT_FALSE(parse_baseline(R"({"schema": "osler-report/1"})", "x.json"));
  nlohmann::json short_row = nlohmann::json::parse(render_baseline(ten_runs()));
  short_row["rows"][0]["quantiles"] = {1, 2};
  EXPECT_FALSE(parse_baseline(short_row.dump(), "x.json"));
  nlohmann::json falling = nlohmann::json::parse(render_baseline(ten_runs()));
  falling["rows"][0]["quantiles"][0] = 1e9;
  const Result<ReferenceRanges> refused = parse_baseline(falling.dump(), "x.json");
  ASSERT_FALSE(refused);
  EXPECT_THAT(describe(refused.error()), HasSubstr("x.json"));
}

TEST(Baseline, IsShownWithItsUsualValues) {
  const std::string text = render_ranges(ten_runs());
  EXPECT_THAT(text, HasSubstr("our vision team: 10 runs"));
  EXPECT_THAT(text, HasSubstr("The median of the logged gradient norms."));
  EXPECT_THAT(text, HasSubstr("median 5.5"));
}

}  // namespace
}  // namespace osler
