// What exploding-gradients says of single norms that no loss can have, and of steps that brought no gradient.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "exploding-gradients";

osler::Run with(const Values& norm) {
  osler::Run run;
  record(run, "loss", noisy(norm.size(), 0.02, 2, descent));
  record(run, "grad_norm", norm);
  return run;
}

/// Norms around `level`, and nothing at all on every other step.
Values half_of_them_nothing(std::size_t count, double level) {
  Values norms = noisy(count, 0.2, 3, [=](double) { return level; });
  for (std::size_t i = 1; i < count; i += 2) norms[i] = i % 4 == 1 ? 0 : 1e-15;
  return norms;
}

TEST(ExplodingGradients, OneNormThatNoLossCanHaveIsAnAccident) {
  for (const double level : {0.01, 1.0, 50.0}) {
    Values norms = noisy(200, 0.2, 1, [=](double) { return level; });
    norms[120] = 3e12;
    const Verdict verdict = verdict_of(kId, with(norms));
    EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  }
}

TEST(ExplodingGradients, ItIsSeenWhereMostStepsBringNoGradient) {
  Values norms = half_of_them_nothing(200, 2);
  norms[120] = 3e12;
  const Verdict verdict = verdict_of(kId, with(norms));
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(ExplodingGradients, StepsWithoutAGradientMakeTheOthersNoLeaps) {
  EXPECT_TRUE(absent(verdict_of(kId, with(half_of_them_nothing(200, 150)))));
}

TEST(ExplodingGradients, AnOverflowWhileALossScaleIsSoughtIsLeftAlone) {
  Values norms = noisy(200, 0.2, 1, [](double) { return 1.0; });
  norms[2] = 1e9;
  EXPECT_TRUE(absent(verdict_of(kId, with(norms))));
}

TEST(ExplodingGradients, NormsOfThatSizeAllAlongAreAMatterOfScale) {
  EXPECT_TRUE(absent(verdict_of(kId, with(noisy(200, 0.2, 1, [](double) { return 4e6; })))));
}

}  // namespace
}  // namespace osler::sample
