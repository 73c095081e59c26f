// The choice of experiments, with causes and probes that are made up.
#include "osler/probes/settle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace osler::probes {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Report report_of(double low, double high) {
  Report report;
  WeighedCause first;
  first.cause = "lr-too-low";
  first.probability = low;
  WeighedCause second;
  second.cause = "lr-too-high";
  second.probability = high;
  report.causes = {first, second};
  return report;
}

struct Scene {
  std::vector<std::string> ran;
  std::vector<std::string> recorded;
  bool known = false;  ///< one experiment tells it all

  SettleMeans means() {
    SettleMeans means;
    means.run = [this](std::string_view probe, std::int64_t passes, std::int64_t) {
      ran.emplace_back(probe);
      Experiment experiment;
      experiment.probe = std::string(probe);
      return SettleMeans::Spent{experiment, passes};
    };
    means.record = [this](const Experiment& experiment) { recorded.push_back(experiment.probe); };
    means.weigh = [this] { return known && !ran.empty() ? report_of(0.98, 0.02) : report_of(0.5, 0.45); };
    means.ended = [] { return std::string(); };
    return means;
  }
};

TEST(Settle, StopsWhenOneCauseLeads) {
  Scene scene;
  scene.known = true;
  const Settled settled = settle(scene.means(), 5000);
  EXPECT_THAT(settled.tests, SizeIs(1));
  EXPECT_EQ(scene.ran, scene.recorded);
  EXPECT_EQ(settled.ended, "lr-too-low leads clearly.");
  EXPECT_EQ(settled.budget, 1000);
  EXPECT_THAT(describe(settled), HasSubstr("50 % ->  98 %"));
}

TEST(Settle, TriesEveryProbeAtMostOnceWithinItsBudget) {
  Scene scene;
  SettleOptions options;
  options.steps = 2000;
  const Settled settled = settle(scene.means(), 5000, options);
  EXPECT_LE(settled.cost, 2000);
  std::vector<std::string> once = scene.ran;
  std::sort(once.begin(), once.end());
  EXPECT_EQ(std::unique(once.begin(), once.end()), once.end());
  EXPECT_GE(scene.ran.size(), 2U);
}

TEST(Settle, DoesNothingWhereNothingCanBeAfforded) {
  Scene scene;
  SettleOptions options;
  options.steps = 3;
  const Settled settled = settle(scene.means(), 5000, options);
  EXPECT_THAT(settled.tests, IsEmpty());
  EXPECT_EQ(settled.ended, "What is left of the budget is too little for another experiment.");
}

TEST(Settle, EndsWhenItIsTold) {
  Scene scene;
  SettleMeans means = scene.means();
  means.ended = [] { return std::string("The time is up."); };
  EXPECT_EQ(settle(means, 5000).ended, "The time is up.");
  EXPECT_THAT(scene.ran, IsEmpty());
}

}  // namespace
}  // namespace osler::probes
