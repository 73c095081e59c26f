// Labels: what counts as right on public logs of either kind and on trainings of the population.
#include "score/label.h"

#include <gtest/gtest.h>

namespace osler::score {
namespace {

using Ids = std::vector<std::string>;

Subject labelled(const char* record) {
  Subject subject;
  apply_public_label(nlohmann::json::parse(record), subject);
  return subject;
}

TEST(LabelTest, WhatIsTrueAsWellCountsAsRightOnASickRun) {
  const Subject first = labelled(R"({"label": "overfitting", "confidence": "high", "accept": ["overfitting"],
                                     "tolerate": ["overconfidence"]})");
  EXPECT_EQ(first.truth.accept, (Ids{"overfitting", "overconfidence"}));
  EXPECT_EQ(first.label, "overfitting");
  const Subject second = labelled(R"({"verdict": "sick", "confidence": 0.6, "findings": ["overfitting"],
                                      "also_ok": ["overconfidence"], "causes": ["too-little-data"]})");
  EXPECT_EQ(second.truth.accept, first.truth.accept);
  EXPECT_EQ(second.truth.causes, Ids{"too-little-data"});
  EXPECT_EQ(second.planted, Ids{"too-little-data"});
}

TEST(LabelTest, ItExcusesNothingOnAHealthyRun) {
  for (const Subject& healthy :
       {labelled(R"({"label": "healthy", "confidence": "high", "accept": [], "tolerate": ["loss-spikes"]})"),
        labelled(R"({"verdict": "healthy", "confidence": 0.9, "findings": [], "also_ok": ["loss-spikes"]})")}) {
    EXPECT_TRUE(healthy.truth.healthy);
    EXPECT_TRUE(healthy.truth.accept.empty());
    EXPECT_TRUE(healthy.truth.tolerate.empty());
  }
}

TEST(LabelTest, LabelsOlderThanAFindingNameItsNeighbour) {
  EXPECT_EQ(with_equivalents({"loss-stuck-from-start"}),
            (Ids{"loss-stuck-from-start", "reward-stuck-from-start", "predicts-one-class"}));
  EXPECT_EQ(with_equivalents({"loss-diverging"}), (Ids{"loss-diverging", "reward-collapse", "reward-worse-than-start",
                                                       "loss-beyond-chance", "loss-negative-unbounded"}));
  EXPECT_EQ(with_equivalents({"overfitting"}), Ids{"overfitting"});
}

TEST(LabelTest, DoubtIsSaidInTwoWays) {
  EXPECT_FALSE(labelled(R"({"label": "healthy", "confidence": "low"})").certain);
  EXPECT_TRUE(labelled(R"({"verdict": "healthy", "confidence": 0.5})").certain);
  EXPECT_FALSE(labelled(R"({"verdict": "undecidable", "confidence": 0.5})").decided);
  EXPECT_FALSE(labelled(R"({"label": "undecidable", "confidence": "high"})").decided);
}

TEST(LabelTest, APlantedFaultIsRightUnderAnyOfItsCausesAndListedUnderItsOwn) {
  Subject subject;
  apply_population_label(
      nlohmann::json::parse(R"({"id": "s1-1", "family": "binary-mlp", "split": "left-out", "verdict": "sick",
        "shows": false, "expected_findings": ["dead-layer"],
        "faults": [{"id": "frozen-parameters", "also": ["disconnected-graph"]}]})"),
      subject);
  EXPECT_EQ(subject.part, kLeftOut);
  EXPECT_EQ(subject.planted, Ids{"frozen-parameters"});
  EXPECT_EQ(subject.truth.causes, (Ids{"frozen-parameters", "disconnected-graph"}));
  EXPECT_EQ(subject.truth.finding, "dead-layer");
  EXPECT_FALSE(subject.shows);
}

TEST(LabelTest, ARunThatLearnedNothingIsNotHealthy) {
  const auto decided = [](double clean) {
    Subject subject;
    apply_population_label(nlohmann::json{{"id", "a"},
                                          {"family", "f"},
                                          {"split", "learn"},
                                          {"verdict", "healthy"},
                                          {"untrained", {{"loss", 1.02}}},
                                          {"clean", {{"loss", clean}}}},
                           subject);
    return subject.decided;
  };
  EXPECT_TRUE(decided(0.4));
  EXPECT_FALSE(decided(1.02));
}

TEST(LabelTest, AFaultWithoutHarmIsAHealthyRun) {
  Subject subject;
  apply_population_label(nlohmann::json::parse(R"({"id": "a", "family": "f", "split": "learn", "verdict": "healthy",
                                                   "faults": [{"id": "lr-too-high"}]})"),
                         subject);
  EXPECT_TRUE(subject.truth.healthy);
  EXPECT_TRUE(subject.truth.causes.empty());
}

TEST(LabelTest, ABeginningMayBeOffByATenthOfTheRun) {
  EXPECT_EQ(beginning(50, {0, 100, 101}), (std::pair<std::int64_t, std::int64_t>{40, 60}));
  EXPECT_EQ(beginning(0, {1, 101, 101}), (std::pair<std::int64_t, std::int64_t>{-9, 11}));
  EXPECT_EQ(beginning(5000, {0, 100, 101}), std::nullopt) << "the label counts in another unit";
}

}  // namespace
}  // namespace osler::score
