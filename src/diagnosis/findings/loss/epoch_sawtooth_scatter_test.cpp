// Scatter is no saw, however few its epochs.
#include <gtest/gtest.h>

#include <cmath>

#include "diagnosis/sample_run.h"

namespace osler::sample {
namespace {

/// A loss that only scatters about a level, validated every fifty steps.
Run scattered(std::uint32_t seed, std::size_t epochs) {
  constexpr std::int64_t kRows = 50;
  Noise noise(seed);
  osler::Run run;
  record(run, "train/loss", curve(kRows * epochs, [&](double) { return 0.05 * std::exp(0.4 * noise.normal()); }));
  record(run, "validation/loss", noisy(epochs, 0.1, seed + 1, [](double) { return 0.05; }), {kRows - 1, kRows});
  return run;
}

TEST(EpochSawtooth, IsNotSeenInScatter) {
  constexpr std::uint32_t kRuns = 300;
  int alarms = 0;
  for (std::uint32_t seed = 1; seed <= kRuns; ++seed) {
    alarms += found(verdict_of("epoch-sawtooth", scattered(seed, 6 + seed % 3)), Severity::warning) ? 1 : 0;
  }
  EXPECT_LE(alarms, 1);
}

}  // namespace
}  // namespace osler::sample
