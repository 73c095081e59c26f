// What gradient-nonfinite says of NaN gradients: fatal ones, frequent ones and skipped steps.
#include <gtest/gtest.h>

#include <limits>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "gradient-nonfinite";
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Values norms_with_nan_from(std::size_t first, std::size_t count = 200) {
  Values norm = noisy(count, 0.2, 1, [](double) { return 1.0; });
  for (std::size_t i = first; i < count; ++i) norm[i] = kNan;
  return norm;
}

TEST(GradientNonfinite, NamesTheLayersHitFirstFromTheOutputOn) {
  osler::Run run;
  record(run, "gradients/encoder.weight", norms_with_nan_from(100));
  record(run, "gradients/decoder.weight", norms_with_nan_from(100));
  record(run, "gradients/head.weight", norms_with_nan_from(101));
  const Verdict verdict = verdict_of(kId, run);
  ASSERT_TRUE(found(verdict, Severity::critical)) << in_words(verdict);
  const auto& seen = std::get<Observation>(verdict);
  EXPECT_EQ(seen.first_step, 100);
  EXPECT_EQ(seen.layers, (std::vector<std::string>{"decoder.weight", "encoder.weight"}));
}

TEST(GradientNonfinite, TheGlobalNormAloneIsEnough) {
  osler::Run run;
  record(run, "grad_norm", norms_with_nan_from(150));
  EXPECT_TRUE(found(verdict_of(kId, run), Severity::critical));
}

TEST(GradientNonfinite, FrequentOverflowIsAWarning) {
  Values norm = norms_with_nan_from(200);
  for (std::size_t i = 30; i < 200; i += 10) norm[i] = std::numeric_limits<double>::infinity();
  osler::Run run;
  record(run, "grad_norm", norm);
  EXPECT_TRUE(found(verdict_of(kId, run), Severity::warning));
}

TEST(GradientNonfinite, ASkippedStepOfMixedPrecisionIsANote) {
  Values norm = norms_with_nan_from(200);
  norm[120] = kNan;
  osler::Run run;
  record(run, "grad_norm", norm);
  EXPECT_TRUE(found(verdict_of(kId, run), Severity::note));
}

TEST(GradientNonfinite, TheSearchForALossScaleIsANote) {
  Values norm = norms_with_nan_from(60, 60);
  for (std::size_t i = 0; i < 8; ++i) norm[i] = std::numeric_limits<double>::infinity();
  osler::Run run;
  record(run, "grad_norm", norm);
  EXPECT_TRUE(found(verdict_of(kId, run), Severity::note));
}

TEST(GradientNonfinite, ANormThatWasNeverMeasuredSaysNothing) {
  osler::Run run;
  record(run, "loss", noisy(100, 0.02, 2, descent));
  record(run, "grad_norm", Values(100, kNan));
  EXPECT_TRUE(absent(verdict_of(kId, run)));
}

TEST(GradientNonfinite, FiniteGradientsAreHealthyAndMissingOnesNotChecked) {
  osler::Run run;
  record(run, "grad_norm", norms_with_nan_from(200));
  EXPECT_TRUE(absent(verdict_of(kId, run)));
  EXPECT_TRUE(unchecked(verdict_of(kId, osler::Run())));
}

}  // namespace
}  // namespace osler::sample
