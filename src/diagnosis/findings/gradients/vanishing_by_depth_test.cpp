// What vanishing-by-depth says of gradients along the layers of a network.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "vanishing-by-depth";

/// A network whose gradient shrinks by `factor` from each layer to the one before.
Run network(std::size_t layers, double factor, double scale = 1, bool with_biases = false) {
  osler::Run run;
  for (std::size_t i = 0; i < layers; ++i) {
    const double size = scale * std::pow(factor, static_cast<double>(i) - static_cast<double>(layers));
    const std::string name = "grad_norm/block." + std::to_string(i);
    const auto seed = static_cast<std::uint32_t>(i + 1);
    record(run, name + ".weight", noisy(40, 0.3, seed, [&](double) { return size; }), {.stride = 25});
    if (with_biases) record(run, name + ".bias", noisy(40, 0.3, seed + 99, [&](double) { return 1e-9; }));
  }
  return run;
}

TEST(VanishingByDepth, ASigmoidNetworkIsFoundAtAnyScale) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    const Verdict verdict = verdict_of(kId, network(12, 4, scale));
    ASSERT_TRUE(found(verdict, Severity::warning) || found(verdict, Severity::critical)) << in_words(verdict);
    EXPECT_EQ(std::get<Observation>(verdict).layers.front(), "block.0.weight");
  }
}

TEST(VanishingByDepth, ThreeLayersAreEnoughWhenEveryOneShrinks) {
  EXPECT_TRUE(found(verdict_of(kId, network(3, 100)), Severity::warning));
}

TEST(VanishingByDepth, SevenDecadesAreCritical) {
  EXPECT_TRUE(found(verdict_of(kId, network(20, 10)), Severity::critical));
}

TEST(VanishingByDepth, AFactorOfAHundredIsHealthy) {
  EXPECT_TRUE(absent(verdict_of(kId, network(12, 1.45))));
  EXPECT_TRUE(absent(verdict_of(kId, network(40, 1.0))));
}

TEST(VanishingByDepth, BiasesAreLeftOut) {
  EXPECT_TRUE(absent(verdict_of(kId, network(12, 1.2, 1, true))));
}

TEST(VanishingByDepth, OneSmallLayerIsNoDecayAlongTheDepth) {
  osler::Run run = network(12, 1.1);
  record(run, "grad_norm/block.12.weight", Values(40, 1e-9));
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(VanishingByDepth, NamesSortedAsTextAreReadAsNumbers) {
  osler::Run run;
  for (const int i : {0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9}) {
    record(run, "gradients/layer." + std::to_string(i) + ".weight", Values(20, std::pow(4.0, i)));
  }
  const Verdict verdict = verdict_of(kId, run);
  ASSERT_TRUE(found(verdict, Severity::warning) || found(verdict, Severity::critical)) << in_words(verdict);
}

TEST(VanishingByDepth, TwoLayersAreNotChecked) {
  EXPECT_TRUE(unchecked(verdict_of(kId, network(2, 100))));
}

}  // namespace
}  // namespace osler::sample
