// What gradient-norm-oscillating says of norms that bounce and of norms that merely scatter.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "gradient-norm-oscillating";

/// High, low, high, low, with a flip left out now and then.
Values bouncing(std::size_t count, double factor, double scale) {
  Noise noise(1);
  double side = 1;
  return curve(count, [&](double) {
    if (noise.uniform() < 0.85) side = -side;
    return scale * std::pow(factor, side) * std::exp(0.15 * noise.normal());
  });
}

Verdict with(const Values& norm, const Values& loss) {
  osler::Run run;
  record(run, "loss", loss);
  record(run, "grad_norm", norm);
  return verdict_of(kId, run);
}

Values stuck(std::size_t count) {
  return noisy(count, 0.02, 2, [](double) { return 2.3; });
}

TEST(GradientNormOscillating, BouncingByMoreThanAFactorIsFound) {
  for (const double scale : {1e4, 1.0, 1e-4}) {
    const Verdict verdict = with(bouncing(200, 4, scale), stuck(200));
    EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
  }
}

TEST(GradientNormOscillating, LongRunsAreJudgedByTheirNewestNorms) {
  const Verdict verdict = with(bouncing(20000, 4, 1), stuck(20000));
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(GradientNormOscillating, WhileTheLossFallsItIsANote) {
  EXPECT_TRUE(found(with(bouncing(200, 4, 1), noisy(200, 0.02, 3, descent)), Severity::note));
}

TEST(GradientNormOscillating, NormsThatScatterWidelyAtRandomAreHealthy) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Noise noise(seed);
    const Values norm = curve(300, [&](double x) { return (1 + x) * std::exp(1.2 * noise.normal()); });
    const Verdict verdict = with(norm, stuck(300));
    EXPECT_TRUE(absent(verdict)) << seed << " " << in_words(verdict);
  }
}

TEST(GradientNormOscillating, SmallSwingsDoNotMatter) {
  EXPECT_TRUE(absent(with(bouncing(200, 1.5, 1), stuck(200))));
}

TEST(GradientNormOscillating, FewNormsAreNotChecked) {
  EXPECT_TRUE(unchecked(with(bouncing(20, 4, 1), stuck(20))));
}

}  // namespace
}  // namespace osler::sample
