// Treating by machine: what helps is kept, what does not is not, and what needs a person is said.
#include "osler/probes/treat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

namespace osler::probes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Remedy change(const std::string& name, const std::string& to) {
  return {name + " to " + to, Remedy::Change{name, "", to}};
}

Report sick(std::vector<std::pair<std::string, std::vector<Remedy>>> causes) {
  Report report;
  report.findings.push_back({});
  report.findings.back().finding = "loss-diverging";
  report.findings.back().severity = Severity::critical;
  for (auto& [id, remedies] : causes) {
    report.causes.push_back({});
    report.causes.back().cause = id;
    report.causes.back().remedies = std::move(remedies);
  }
  return report;
}

/// Trainings whose loss is a number less for every change with a known effect. Changes are known by "name=to".
struct Ward {
  double start = 10;
  std::map<std::string, double> effects;
  std::vector<std::string> healing;  // changes that make the finding go away
  std::vector<std::vector<std::string>> runs;

  Forks forks() {
    Forks forks;
    forks.can_apply = [this](const Remedy::Change& wanted) { return effects.contains(key(wanted)); };
    forks.run = [this](const Changes& changes) {
      Fork fork{start, sick({})};
      runs.emplace_back();
      for (const Remedy::Change& made : changes) {
        runs.back().push_back(key(made));
        fork.loss -= effects.at(key(made));
        for (const std::string& cure : healing) {
          if (cure == key(made)) fork.report.findings.clear();
        }
      }
      return fork;
    };
    return forks;
  }
  static std::string key(const Remedy::Change& wanted) { return wanted.name + "=" + wanted.to; }
};

std::vector<std::string> names(const Changes& changes) {
  std::vector<std::string> all;
  for (const Remedy::Change& each : changes) all.push_back(Ward::key(each));
  return all;
}

TEST(Treat, KeepsWhatLowersTheLossAndBuildsOnIt) {
  Ward ward{10, {{"lr=0.1", 4}, {"clip_norm=1", 2}}, {}, {}};
  const Cure cure = treat(sick({{"lr-too-high", {change("lr", "0.1"), change("clip_norm", "1")}}}), ward.forks());
  EXPECT_THAT(names(cure.kept), ElementsAre("lr=0.1", "clip_norm=1"));
  EXPECT_EQ(cure.untreated, 10);
  EXPECT_EQ(cure.treated, 4);
  EXPECT_THAT(ward.runs, ElementsAre(IsEmpty(), ElementsAre("lr=0.1"), ElementsAre("lr=0.1", "clip_norm=1")));
}

TEST(Treat, LeavesOutWhatDoesHarmOrNothing) {
  Ward ward{10, {{"lr=1", -5}, {"dropout=0.1", 0.1}, {"lr=0.1", 4}}, {}, {}};
  const Cure cure =
      treat(sick({{"a", {change("lr", "1"), change("dropout", "0.1")}}, {"b", {change("lr", "0.1")}}}), ward.forks());
  EXPECT_THAT(names(cure.kept), ElementsAre("lr=0.1"));
  ASSERT_EQ(cure.trials.size(), 3U);
  EXPECT_EQ(cure.trials[0].why, "the loss is worse");
  EXPECT_EQ(cure.trials[1].why, "no clear difference");
  EXPECT_TRUE(cure.trials[2].kept);
  EXPECT_EQ(cure.trials[2].cause, "b");
}

TEST(Treat, KeepsWhatMakesTheFindingGoAwayAtTheSameLoss) {
  Ward ward{10, {{"eval_mode=on", 0}}, {"eval_mode=on"}, {}};
  const Cure cure = treat(sick({{"eval-mode-left-on", {change("eval_mode", "on")}}}), ward.forks());
  EXPECT_THAT(names(cure.kept), ElementsAre("eval_mode=on"));
  EXPECT_EQ(cure.trials.front().why, "loss-diverging is gone and the loss is no worse");
}

TEST(Treat, ALossThatIsNoNumberIsWorseThanAny) {
  Ward ward{std::nan(""), {{"guarded_math=on", 0}}, {}, {}};
  Forks forks = ward.forks();
  const auto broken = forks.run;
  forks.run = [&](const Changes& changes) {
    Fork fork = broken(changes);
    if (!changes.empty()) fork.loss = 100;
    return fork;
  };
  const Cure cure = treat(sick({{"log-of-zero", {change("guarded_math", "on")}}}), forks);
  EXPECT_THAT(names(cure.kept), ElementsAre("guarded_math=on"));
  EXPECT_EQ(cure.trials.front().why, "the loss is finite");
}

TEST(Treat, SaysWhatNeedsAPerson) {
  Ward ward{10, {{"lr=0.1", 4}}, {}, {}};
  const Cure cure = treat(
      sick({{"wrong-labels", {Remedy{"Look at ten samples.", {}}, change("labels", "right"), change("lr", "0.1")}}}),
      ward.forks());
  EXPECT_THAT(cure.for_a_person, ElementsAre("Look at ten samples.", "labels to right"));
  EXPECT_THAT(names(cure.kept), ElementsAre("lr=0.1"));
}

TEST(Treat, TriesTheSameChangeOnce) {
  Ward ward{10, {{"lr=0.1", 0}}, {}, {}};
  const Cure cure = treat(sick({{"a", {change("lr", "0.1")}}, {"b", {change("lr", "0.1")}}}), ward.forks());
  EXPECT_EQ(cure.trials.size(), 1U);
}

TEST(Treat, StopsAtTheNumberOfCausesAndTrials) {
  Ward ward{10, {{"lr=1", 0}, {"lr=2", 0}, {"lr=3", 0}}, {}, {}};
  const Report report = sick({{"a", {change("lr", "1")}}, {"b", {change("lr", "2")}}, {"c", {change("lr", "3")}}});
  EXPECT_EQ(treat(report, ward.forks(), {.causes = 2}).trials.size(), 2U);
  EXPECT_EQ(treat(report, ward.forks(), {.trials = 1}).trials.size(), 1U);
}

TEST(Treat, WithoutCausesNothingIsTried) {
  Ward ward;
  const Cure cure = treat(sick({}), ward.forks());
  EXPECT_THAT(cure.kept, IsEmpty());
  EXPECT_EQ(cure.treated, 10);
}

}  // namespace
}  // namespace osler::probes
