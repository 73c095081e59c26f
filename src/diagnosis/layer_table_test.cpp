// Which rows a table of layers has, in which order, and what it says of them.
#include "diagnosis/layer_table.h"

#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"
#include "osler/diagnosis/diagnose.h"

namespace osler::sample {
namespace {

LayerTable table_of(const osler::Run& run) {
  DiagnosisOptions options;
  options.layers = true;
  const auto report = diagnose(run, options);
  return report && report->layers ? *report->layers : LayerTable{};
}

Values steady(double size, std::uint32_t seed = 1) {
  return noisy(60, 0.05, seed, [size](double) { return size; });
}

std::vector<std::string> names_of(const LayerTable& table) {
  std::vector<std::string> names;
  for (const LayerRow& row : table.rows) names.push_back(row.layer);
  return names;
}

const LayerRow& row_of(const LayerTable& table, std::string_view layer) {
  static const LayerRow kNone;
  for (const LayerRow& row : table.rows) {
    if (row.layer == layer) return row;
  }
  return kNone;
}

/// A small network as a monitor records it.
osler::Run network() {
  osler::Run run;
  record(run, "loss", noisy(60, 0.02, 7, descent));
  std::uint32_t seed = 1;
  for (const std::string layer : {"conv", "fc", "head"}) {
    record(run, "gradients/" + layer + ".weight#norm", steady(0.2, ++seed));
    record(run, "gradients/" + layer + ".bias#norm", steady(0.01, ++seed));
    record(run, "weights/" + layer + ".weight#norm", steady(10, ++seed));
    record(run, "updates/" + layer + ".weight#norm", steady(0.02, ++seed));
  }
  for (const std::string layer : {"conv", "relu", "fc", "head"}) {
    record(run, "activations/" + layer + "#dead-share", Values(60, layer == "relu" ? 0.02 : 0.0));
    record(run, "activations/" + layer + "#saturated-share", Values(60, 0.01));
  }
  return run;
}

TEST(LayerTable, RowsStandInTheOrderOfTheForwardPass) {
  EXPECT_EQ(names_of(table_of(network())), (std::vector<std::string>{"conv.weight", "conv.bias", "relu", "fc.weight",
                                                                     "fc.bias", "head.weight", "head.bias"}));
}

TEST(LayerTable, ARowHasWhatTheLogTellsAndNothingElse) {
  const LayerTable table = table_of(network());
  const LayerRow& weight = row_of(table, "fc.weight");
  EXPECT_NEAR(weight.gradient_norm.value_or(0), 0.2, 0.02);
  EXPECT_NEAR(weight.weight_norm.value_or(0), 10, 0.5);
  EXPECT_NEAR(weight.update_ratio.value_or(0), 0.002, 0.0003);
  EXPECT_NEAR(weight.gradient_ratio.value_or(0), 0.02, 0.003);
  EXPECT_EQ(weight.dead_share, 0.0);
  EXPECT_EQ(weight.saturated_share, 0.01);
  EXPECT_EQ(weight.status, "ok");
  EXPECT_EQ(weight.kind, "weight");
  EXPECT_EQ(weight.gradient_course.size(), 24U);
  const LayerRow& bias = row_of(table, "fc.bias");
  EXPECT_EQ(bias.kind, "bias");
  EXPECT_FALSE(bias.weight_norm || bias.update_ratio || bias.gradient_ratio || bias.dead_share);
  EXPECT_EQ(row_of(table, "relu").kind, "activation");
}

TEST(LayerTable, SpansAreOverWeightsNotBiases) {
  const LayerTable table = table_of(network());
  ASSERT_FALSE(table.spans.empty());
  const LayerSpan& span = table.spans.front();
  EXPECT_EQ(span.figure, "gradient_norm");
  EXPECT_EQ(span.layers, 3U);
  EXPECT_GT(span.lowest, 0.15);
  EXPECT_LE(span.lowest, span.median);
  EXPECT_LE(span.median, span.highest);
  EXPECT_FALSE(span.lowest_layer.empty());
}

/// Twenty layers from a plain log; the eighth is `odd`.
LayerTable among_twenty(const Values& odd) {
  osler::Run run;
  record(run, "loss", steady(2.3, 99));
  for (std::uint32_t i = 0; i < 20; ++i)
    record(run, "grad_norm/layers." + std::to_string(i) + ".weight", i == 7 ? odd : steady(0.3, i + 1));
  return table_of(run);
}

TEST(LayerTable, TheStatusIsThatOfTheFindingThatNamesTheLayer) {
  const struct {
    Values values;
    std::string status;
    std::string finding;
  } kCases[] = {{steady(80, 50), "exploding", "exploding-layer"},
                {steady(1e-9, 50), "silent", "silent-layer"},
                {Values(60, 0.0), "dead", "dead-layer"}};
  for (const auto& [values, status, finding] : kCases) {
    const LayerTable table = among_twenty(values);
    ASSERT_EQ(table.rows.size(), 20U);
    for (const LayerRow& row : table.rows) {
      const bool odd = row.layer == "layers.7.weight";
      EXPECT_EQ(row.status, odd ? status : "ok") << row.layer;
      EXPECT_EQ(row.finding, odd ? finding : "") << row.layer;
      EXPECT_EQ(row.why.empty(), !odd) << row.layer;
    }
    EXPECT_EQ(row_of(table, "layers.7.weight").severity, Severity::warning);
  }
}

TEST(LayerTable, WhatIsWrongWithOneLayerIsNotHiddenByWhatIsWrongWithAll) {
  osler::Run run;
  record(run, "loss", steady(2.3, 99));
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".weight";
    record(run, "gradients/" + layer + "#norm", i == 7 ? Values(60, 0.0) : steady(0.3, i + 1));
    record(run, "weights/" + layer + "#norm", steady(10, 100 + i));
    record(run, "updates/" + layer + "#norm", steady(1e-8, 200 + i));
  }
  const LayerTable table = table_of(run);
  EXPECT_EQ(row_of(table, "layers.7.weight").status, "dead");
  EXPECT_EQ(row_of(table, "layers.8.weight").status, "steps too short");
}

TEST(LayerTable, WeightsThatNeverChangeAndHaveNoGradientAreFrozen) {
  osler::Run run = network();
  record(run, "weights/backbone.weight#norm", Values(60, 4.0));
  const LayerRow& row = row_of(table_of(run), "backbone.weight");
  EXPECT_EQ(row.status, "frozen");
  EXPECT_FALSE(row.severity);
}

TEST(LayerTable, ALayerThatEndsInNanShowsIt) {
  Values broken = steady(0.3, 50);
  broken.back() = std::nan("");
  const LayerRow& row = row_of(among_twenty(broken), "layers.7.weight");
  ASSERT_TRUE(row.gradient_norm);
  EXPECT_TRUE(std::isnan(*row.gradient_norm));
}

TEST(LayerTable, IsMadeOnlyWhenItIsAskedFor) {
  const auto report = diagnose(network());
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->layers);
}

TEST(LayerTable, IsEmptyForARunWithoutLayers) {
  osler::Run run;
  record(run, "loss", steady(2.3));
  EXPECT_TRUE(table_of(run).rows.empty());
}

}  // namespace
}  // namespace osler::sample
