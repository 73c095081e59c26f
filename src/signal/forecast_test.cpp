// Decays extended: where they lead, how sure that is, and when nothing can be said.
#include "signal/forecast.h"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "signal/seeded_noise.h"

namespace osler::signal {
namespace {

struct Falling {
  std::vector<double> step;
  std::vector<double> value;
};

/// The first `points` of a power law towards 1.5, one point each ten steps, with noise.
Falling power_law(int points, double sigma) {
  SeededNoise noise(7);
  Falling curve;
  for (int i = 0; i < points; ++i) {
    curve.step.push_back(10.0 * i);
    curve.value.push_back(1.5 + 4 / std::sqrt(1.0 + i) + sigma * noise.next());
  }
  return curve;
}

TEST(ProspectAt, LiesWhereTheDecayWillBe) {
  const Falling known = power_law(200, 0.01);
  const auto prospect = prospect_at(known.step, known.value, 4000);
  ASSERT_TRUE(prospect);
  EXPECT_NEAR(prospect->value, 1.5 + 4 / std::sqrt(401.0), 0.03);
}

TEST(ProspectAt, IsLessSureOfWhatLiesFurtherAheadAndOfNoisyCurves) {
  const Falling known = power_law(200, 0.02);
  const auto near = prospect_at(known.step, known.value, 2500);
  const auto far = prospect_at(known.step, known.value, 8000);
  const Falling noisy = power_law(200, 0.2);
  const auto blurred = prospect_at(noisy.step, noisy.value, 8000);
  ASSERT_TRUE(near && far && blurred);
  EXPECT_LT(near->spread, far->spread);
  EXPECT_LT(far->spread, blurred->spread);
}

TEST(ProspectAt, SaysNothingOfAHandfulOfPointsOrAConstant) {
  const Falling few = power_law(5, 0);
  EXPECT_FALSE(prospect_at(few.step, few.value, 100));
  const std::vector<double> step = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<double> value(step.size(), 2.0);
  EXPECT_FALSE(prospect_at(step, value, 20));
}

}  // namespace
}  // namespace osler::signal
