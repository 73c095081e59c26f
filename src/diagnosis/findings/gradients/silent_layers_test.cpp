// What dead-layer and gradients-mostly-zero say of layers without gradient.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

Values alive(std::uint32_t seed, std::size_t count = 60) {
  return noisy(count, 0.3, seed, [](double) { return 0.1; });
}

/// A network of `count` layers of which those in `dead` never get a gradient.
Run network(std::size_t count, const std::vector<std::size_t>& dead, bool learns = false) {
  osler::Run run;
  record(run, "loss", learns ? noisy(60, 0.02, 1, descent) : noisy(60, 0.02, 1, [](double) { return 2.3; }));
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_dead = std::find(dead.begin(), dead.end(), i) != dead.end();
    record(run, "grads/layer" + std::to_string(i), is_dead ? Values(60, 0.0) : alive(static_cast<std::uint32_t>(i)));
  }
  return run;
}

TEST(DeadLayer, ALayerCutOffBetweenLiveOnesIsAWarning) {
  const Verdict verdict = verdict_of("dead-layer", network(6, {2, 3}));
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).layers, (std::vector<std::string>{"layer2", "layer3"}));
}

TEST(DeadLayer, NoGradientAnywhereIsCritical) {
  EXPECT_TRUE(found(verdict_of("dead-layer", network(4, {0, 1, 2, 3})), Severity::critical));
}

TEST(DeadLayer, AFrozenBackboneIsANoteWhereTheRunGetsSomewhere) {
  EXPECT_TRUE(found(verdict_of("dead-layer", network(8, {0, 1, 2, 3, 4})), Severity::warning));
  EXPECT_TRUE(found(verdict_of("dead-layer", network(8, {0, 1, 2, 3, 4}, true)), Severity::note));
}

TEST(DeadLayer, FrozenWeightsBesideAdaptersThatLearnAreANote) {
  EXPECT_TRUE(found(verdict_of("dead-layer", network(10, {0, 2, 3, 5, 6, 8}, true)), Severity::note));
}

TEST(DeadLayer, ALayerThatDiesOnTheWayIsAWarning) {
  osler::Run run = network(4, {});
  Values dying = alive(9);
  for (std::size_t i = 35; i < dying.size(); ++i) dying[i] = 0;
  record(run, "grads/layer4", dying);
  const Verdict verdict = verdict_of("dead-layer", run);
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).first_step, 35);
}

TEST(DeadLayer, TinyButMovingGradientsAreAlive) {
  osler::Run run = network(3, {});
  record(run, "grads/key.bias", times(alive(5), 1e-9));
  EXPECT_TRUE(absent(verdict_of("dead-layer", run)));
}

TEST(DeadLayer, WithoutLayersItIsNotChecked) {
  osler::Run run;
  record(run, "grad_norm", Values(60, 0.0));
  EXPECT_TRUE(unchecked(verdict_of("dead-layer", run)));
}

Run with_zero_shares(const std::string& layer, double share) {
  osler::Run run;
  record(run, "gradients/" + layer + "#zero-share", noisy(40, 0.02, 1, [&](double) { return share; }));
  record(run, "gradients/other#zero-share", noisy(40, 0.02, 2, [](double) { return 0.1; }));
  return run;
}

TEST(GradientsMostlyZero, ALayerBehindDeadUnitsIsFound) {
  const Verdict verdict = verdict_of("gradients-mostly-zero", with_zero_shares("fc1.weight", 0.8));
  ASSERT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  EXPECT_EQ(std::get<Observation>(verdict).layers, std::vector<std::string>{"fc1.weight"});
}

TEST(GradientsMostlyZero, HalfOfTheGradientIsOrdinaryForRelu) {
  EXPECT_TRUE(absent(verdict_of("gradients-mostly-zero", with_zero_shares("fc1.weight", 0.45))));
}

TEST(GradientsMostlyZero, EmbeddingsAreSparseByNature) {
  EXPECT_TRUE(absent(verdict_of("gradients-mostly-zero", with_zero_shares("word_embeddings.weight", 0.99))));
}

TEST(GradientsMostlyZero, NormsAloneSayNothingOfZeros) {
  EXPECT_TRUE(unchecked(verdict_of("gradients-mostly-zero", network(4, {1}))));
}

}  // namespace
}  // namespace osler::sample
