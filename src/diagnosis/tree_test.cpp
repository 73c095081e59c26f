// The tree holds together, and runs find their way through it.
#include "osler/diagnosis/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "osler/diagnosis/catalogue.h"

namespace osler {
namespace {

using ::testing::HasSubstr;

TEST(Tree, EveryNodeIsReachedOnceAndNamesWhatExists) {
  std::set<std::string_view> reached = {diagnosis_tree().front().id};
  for (const TreeNode& node : diagnosis_tree()) {
    EXPECT_EQ(reached.count(node.id), 1) << node.id << " comes before its parent, or has none";
    for (const std::string_view finding : node.findings) EXPECT_NE(find_finding(finding), nullptr) << finding;
    for (const std::string_view cause : node.causes) EXPECT_NE(find_cause(cause), nullptr) << cause;
    EXPECT_NE(node.leaf(), node.causes.empty()) << node.id;
    if (node.leaf()) continue;
    EXPECT_TRUE(reached.insert(node.yes).second) << node.yes;
    EXPECT_TRUE(reached.insert(node.no).second) << node.no;
  }
  EXPECT_EQ(reached.size(), diagnosis_tree().size());
}

TEST(Tree, AsksAboutEveryFindingThatAlarms) {
  // What is harmless, or only a probe can see, has no place on the way of a log.
  const std::set<std::string_view> without = {"accuracy-outruns-loss",
                                              "clipping-never",
                                              "class-imbalance",
                                              "normalization-statistics-drift",
                                              "attention-entropy-collapse",
                                              "gradients-accumulating",
                                              "gradient-noise-dominates",
                                              "validation-augmented",
                                              "validation-builds-graph",
                                              "scheduler-not-checkpointed"};
  std::set<std::string_view> asked;
  for (const TreeNode& node : diagnosis_tree()) asked.insert(node.findings.begin(), node.findings.end());
  for (const auto& [stem, finding] : findings()) {
    const bool probe = finding.needs.size() == 1 && finding.needs.front() == Need::probe;
    if (probe || without.count(finding.id) > 0) continue;
    EXPECT_EQ(asked.count(finding.id), 1) << finding.id;
  }
}

Report report_with(std::initializer_list<const char*> found, std::initializer_list<const char*> ran) {
  Report report;
  for (const char* id : found) {
    Observation seen;
    seen.finding = id;
    seen.severity = Severity::critical;
    seen.summary = "seen at step 7";
    report.findings.push_back(seen);
    report.checks_ran.emplace_back(id);
  }
  for (const char* id : ran) report.checks_ran.emplace_back(id);
  return report;
}

TEST(Tree, LeadsAnExplodingRunToItsConclusion) {
  const auto way = walk_tree(report_with({"loss-nonfinite-later", "exploding-gradients"}, {"loss-nonfinite-at-start"}));
  EXPECT_EQ(way.front().answer, Answer::yes);
  EXPECT_THAT(way.front().because, HasSubstr("step 7"));
  EXPECT_EQ(way.back().node->id, "exploded");
}

TEST(Tree, SaysWhatItCouldNotAsk) {
  Report report = report_with({}, {"loss-nonfinite-later", "loss-stuck-from-start", "loss-diverging", "loss-plateau"});
  report.checks_not_run.push_back({"overfitting", "no validation loss"});
  const auto way = walk_tree(report);
  EXPECT_EQ(way.back().node->id, "healthy");
  const auto asked = [&](std::string_view id) {
    return std::find_if(way.begin(), way.end(), [&](const TreeStep& step) { return step.node->id == id; });
  };
  EXPECT_EQ(asked("generalises")->answer, Answer::unknown);
  EXPECT_EQ(asked("generalises")->because, "no validation loss");
  EXPECT_EQ(asked("moves")->answer, Answer::no);
}

TEST(Tree, ANoteIsNoReasonToTurnOff) {
  Report report = report_with({"loss-plateau"}, {"loss-nonfinite-later"});
  report.findings.front().severity = Severity::note;
  EXPECT_NE(walk_tree(report).back().node->id, "floor-or-saddle");
}

}  // namespace
}  // namespace osler
