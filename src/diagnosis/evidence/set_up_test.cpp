// Set-up and breakage: what a log betrays of its batches, its loss, and how it broke.
#include "diagnosis/evidence/set_up.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "diagnosis/bedside.h"
#include "diagnosis/evidence/breakage.h"

namespace osler::bedside {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename Ask>
auto asked(const Bedside& bed, Ask ask) {
  const auto roles = RoleMap::infer(bed.run);
  return ask(Patient(bed.run, *roles));
}

TEST(SetUp, TheGrainOfAnAccuracyTellsTheBatch) {
  Bedside pairs;
  log(pairs.run, "train/accuracy", 60, 1, [](double step) { return std::fmod(step, 3) / 2; });
  EXPECT_EQ(asked(pairs, samples_per_accuracy), 2);
  Bedside per_cent;
  log(per_cent.run, "train/accuracy", 60, 1, [](double step) { return 100 * std::fmod(step, 2); });
  EXPECT_EQ(asked(per_cent, samples_per_accuracy), 1);
  Bedside fine;
  log(fine.run, "train/accuracy", 60, 1, [](double step) { return step / 64; });
  EXPECT_FALSE(asked(fine, samples_per_accuracy));
}

TEST(SetUp, SquaredErrorsTakeNoLogarithm) {
  Bedside named;
  log(named.run, "train/mse", 20, 1, [](double) { return 1.0; });
  EXPECT_TRUE(asked(named, loss_without_logarithm));
  Bedside told;
  log(told.run, "train/loss", 20, 1, [](double) { return 1.0; });
  EXPECT_FALSE(asked(told, loss_without_logarithm));
  told.run.config("loss", "mse");
  EXPECT_TRUE(asked(told, loss_without_logarithm));
}

TEST(SetUp, FineTuningIsKnownByItsFramework) {
  Bedside bed;
  EXPECT_FALSE(asked(bed, fine_tuning));
  bed.run.format = "hf-trainer-state";
  EXPECT_TRUE(asked(bed, fine_tuning));
}

TEST(Breakage, ARunThatWentWellBrokeForGood) {
  Bedside bed;
  log(bed.run, "train/loss", 100, 1, [](double step) { return step < 60 ? 1 + std::exp(-step / 20) : kNan; });
  EXPECT_TRUE(asked(bed, broke_for_good));
}

TEST(Breakage, ANanThatPassesIsNotForGood) {
  Bedside bed;
  log(bed.run, "train/loss", 100, 1, [](double step) { return step == 60 ? kNan : 1 + std::exp(-step / 20); });
  EXPECT_FALSE(asked(bed, broke_for_good));
}

TEST(Breakage, TheGradientMayBreakBeforeTheLoss) {
  Bedside bed;
  log(bed.run, "train/loss", 100, 1, [](double step) { return step < 60 ? 1.0 : kNan; });
  log(bed.run, "grad_norm", 100, 1, [](double step) { return step < 58 ? 1.0 : kNan; });
  EXPECT_TRUE(asked(bed, gradient_broke_first));
}

}  // namespace
}  // namespace osler::bedside
