// What loss-scale-collapsing says of loss scales that search, balance or fall for good.
#include <gtest/gtest.h>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

constexpr std::string_view kId = "loss-scale-collapsing";

Verdict with(const Values& scale) {
  osler::Run run;
  record(run, "loss_scale", scale, {.stride = 10});
  return verdict_of(kId, run);
}

/// Halved at each of `count` evenly spread places between `from` and `to`.
Values halved(double start, int count, double from, double to) {
  return curve(400, [=](double x) {
    const double done = std::floor(std::clamp((x - from) / (to - from), 0.0, 1.0) * count);
    return std::max(1.0, start / std::pow(2.0, done));
  });
}

TEST(LossScaleCollapsing, DownToOneIsCritical) {
  EXPECT_TRUE(found(with(halved(65536, 16, 0.3, 0.6)), Severity::critical));
}

TEST(LossScaleCollapsing, FallingToTheEndIsAWarning) {
  EXPECT_TRUE(found(with(halved(4294967296.0, 14, 0.3, 1.0)), Severity::warning));
}

TEST(LossScaleCollapsing, TheSearchAtTheStartIsHealthy) {
  EXPECT_TRUE(absent(with(halved(4294967296.0, 16, 0.0, 0.05))));
}

TEST(LossScaleCollapsing, DoublingAndHalvingInBalanceIsHealthy) {
  Noise noise(1);
  double now = 65536;
  const Values scale = curve(600, [&](double) {
    const double draw = noise.uniform();
    if (draw < 0.02) now *= 2;
    if (draw > 0.98) now /= 2;
    return now;
  });
  EXPECT_TRUE(absent(with(scale)));
}

TEST(LossScaleCollapsing, AScaleOfOneFromTheStartMeansThatScalingIsOff) {
  EXPECT_TRUE(absent(with(Values(100, 1.0))));
  EXPECT_TRUE(absent(with(Values(100, 128.0))));
}

TEST(LossScaleCollapsing, WithoutAScaleItIsNotChecked) {
  EXPECT_TRUE(unchecked(verdict_of(kId, osler::Run())));
  EXPECT_TRUE(unchecked(with(Values(4, 65536.0))));
}

}  // namespace
}  // namespace osler::sample
