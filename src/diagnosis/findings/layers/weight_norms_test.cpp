// What weight-norm-exploding and weight-norm-collapsing say of the size of weights over a run.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

/// Four ordinary layers and one whose norm follows `level`.
Run network(const std::function<double(double)>& level, double scale = 1, const std::string& name = "fc.weight") {
  osler::Run run;
  for (std::uint32_t i = 0; i < 4; ++i) {
    record(run, "weights/conv" + std::to_string(i) + ".weight",
           times(noisy(100, 0.001, i + 1, [](double x) { return 5 * std::sqrt(1 + 2 * x); }), scale));
  }
  record(run, "weights/" + name, times(noisy(100, 0.001, 9, level), scale));
  return run;
}

TEST(WeightNormExploding, ExponentialGrowthIsFoundAtAnyScale) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    const Verdict verdict =
        verdict_of("weight-norm-exploding", network([](double x) { return 5 * std::exp(4 * x); }, scale));
    ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
    EXPECT_EQ(std::get<Observation>(verdict).layers, std::vector<std::string>{"fc.weight"});
  }
}

TEST(WeightNormExploding, AHundredfoldIsCritical) {
  EXPECT_TRUE(found(verdict_of("weight-norm-exploding", network([](double x) { return 5 * std::exp(8 * x); })),
                    Severity::critical));
}

TEST(WeightNormExploding, GrowthThatLevelsOutIsHealthy) {
  EXPECT_TRUE(
      absent(verdict_of("weight-norm-exploding", network([](double x) { return 5 * std::sqrt(1 + 300 * x); }))));
}

TEST(WeightNormExploding, WhatStartsAtZeroMayGrow) {
  EXPECT_TRUE(absent(verdict_of("weight-norm-exploding", network([](double x) { return 3 * x; }, 1, "head.bias"))));
  EXPECT_TRUE(absent(
      verdict_of("weight-norm-exploding", network([](double x) { return 1e-5 * std::exp(10 * x); }, 1, "gamma"))));
}

TEST(WeightNormCollapsing, ALayerThatDecaysAwayIsFound) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    EXPECT_TRUE(
        found(verdict_of("weight-norm-collapsing", network([](double x) { return 5 * std::exp(-5 * x); }, scale)),
              Severity::warning));
  }
}

TEST(WeightNormCollapsing, AThousandthIsCritical) {
  EXPECT_TRUE(found(verdict_of("weight-norm-collapsing", network([](double x) { return 5 * std::exp(-12 * x); })),
                    Severity::critical));
}

TEST(WeightNormCollapsing, ShrinkingSeveralTimesBesideNormalisationIsHealthy) {
  EXPECT_TRUE(absent(verdict_of("weight-norm-collapsing", network([](double x) { return 5 * std::exp(-2 * x); }))));
}

TEST(WeightNorms, WithoutLayersNothingIsChecked) {
  osler::Run run;
  record(run, "loss", Values(50, 1.0));
  EXPECT_TRUE(unchecked(verdict_of("weight-norm-exploding", run)));
  EXPECT_TRUE(unchecked(verdict_of("weight-norm-collapsing", run)));
}

}  // namespace
}  // namespace osler::sample
