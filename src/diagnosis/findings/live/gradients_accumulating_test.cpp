// gradients-accumulating tells a sum of all gradients from gradients that are much alike.
#include <gtest/gtest.h>

#include <cmath>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "gradients-accumulating";
constexpr std::string_view kCarried = "osler/check/gradients-carried";

TEST(GradientsAccumulating, ASumGrowsAtLeastAsTheRootOfTheSteps) {
  osler::Run run;
  record(run, "train/loss", noisy(200, 0.05, 1, [](double) { return 1.0; }));
  record(run, "grad_norm", noisy(200, 0.4, 2, [](double x) { return std::sqrt(1 + 200 * x); }));
  record(run, kCarried, noisy(10, 0.01, 3, [](double) { return 1.01; }));
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(GradientsAccumulating, AGeneratorWhoseCriticSharpensHasGradientsThatAreAlikeAndGrow) {
  osler::Run run;
  record(run, "train/loss", noisy(200, 0.05, 1, [](double x) { return -x; }));
  record(run, "grad_norm", noisy(200, 0.4, 2, [](double x) { return 0.8 + 2.2 * std::min(1.0, 4 * x); }));
  record(run, kCarried, noisy(14, 0.03, 3, [](double) { return 1.0; }));
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(absent(verdict)) << in_words(verdict);
}

TEST(GradientsAccumulating, ASumOutlivesTheLoss) {
  osler::Run run;
  record(run, "train/loss", noisy(150, 0.3, 1, [](double x) { return std::exp(-14 * x); }));
  record(run, "grad_norm", noisy(150, 0.02, 2, [](double x) { return 2.4 + 4 * std::min(1.0, 3 * x); }));
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(found(verdict, Severity::warning)) << in_words(verdict);
}

TEST(GradientsAccumulating, AGradientEndsWithItsLoss) {
  osler::Run run;
  record(run, "train/loss", noisy(150, 0.3, 1, [](double x) { return std::exp(-14 * x); }));
  record(run, "grad_norm", noisy(150, 0.02, 2, [](double x) { return 2.4 * std::exp(-7 * x); }));
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(absent(verdict)) << in_words(verdict);
}

TEST(GradientsAccumulating, ANormThatIsLoggedClippedStaysWhateverTheLossDoes) {
  osler::Run run;
  record(run, "train/loss", noisy(150, 0.3, 1, [](double x) { return 100 * std::exp(-9 * x); }));
  record(run, "grad_norm", Values(150, 0.1));
  const Verdict verdict = verdict_of(kId, run);
  EXPECT_TRUE(absent(verdict)) << in_words(verdict);
}

TEST(GradientsAccumulating, WhoClearsThemItselfIsNotAsked) {
  osler::Run run;
  record(run, "train/loss", Values(50, 1.0));
  record(run, kCarried, Values(10, 1.0));
  record(run, "osler/check/gradients-cleared", Values(1, 1.0));
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

}  // namespace
}  // namespace osler::sample
