// The range test on trainings of no framework.
#include "osler/probes/lr_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace osler::probes {
namespace {

/// Gradient descent on a valley whose walls are a hundred times steeper than its floor, with noisy gradients.
class Valley {
 public:
  double step(double rate) {
    const double loss = 0.5 * (x_ * x_ + kWall * y_ * y_);
    x_ -= rate * (x_ + noise_(random_));
    y_ -= rate * (kWall * y_ + noise_(random_));
    ++steps_;
    return loss;
  }
  void restore() {
    x_ = y_ = 1;
    ++restored_;
  }
  [[nodiscard]] RangeTraining training(double present = 0) {
    return {[this](double rate) { return step(rate); }, [this] { restore(); }, present};
  }

  static constexpr double kWall = 100;  // its curvature: beyond 2 / 100 steps diverge
  double x_ = 1;
  double y_ = 1;
  int steps_ = 0;
  int restored_ = 0;

 private:
  std::mt19937_64 random_{3};
  std::normal_distribution<double> noise_{0, 0.02};
};

double value_of(const Experiment& experiment, std::string_view name) {
  for (const auto& value : experiment.values) {
    if (value.name == name) return value.value;
  }
  return std::nan("");
}

TEST(PlainRangeTest, SuggestsARateBelowTheOneThatDiverges) {
  Valley valley;
  const auto found = lr_range_test(valley.training());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->probe, "lr-range-test");
  const double suggestion = value_of(*found, "suggestion");
  EXPECT_GT(suggestion, 1e-4) << found->verdict;
  EXPECT_LT(suggestion, 2 / Valley::kWall) << found->verdict;
  EXPECT_GT(value_of(*found, "divergence"), suggestion);
}

TEST(PlainRangeTest, SaysWhenThePresentRateIsFarOff) {
  Valley valley;
  EXPECT_EQ(lr_range_test(valley.training(1e-6))->outcome, Experiment::Outcome::failed);
  const double good = value_of(*lr_range_test(valley.training()), "suggestion");
  EXPECT_EQ(lr_range_test(valley.training(good))->outcome, Experiment::Outcome::passed);
}

TEST(PlainRangeTest, PutsTheTrainingBackAfterEveryPass) {
  Valley valley;
  ASSERT_TRUE(lr_range_test(valley.training()));
  EXPECT_EQ(valley.restored_, 3);
  EXPECT_EQ(valley.x_, 1);
  EXPECT_EQ(valley.y_, 1);
}

TEST(PlainRangeTest, PutsItBackAlsoWhenAStepThrows) {
  bool back = false;
  const RangeTraining training = {[](double) -> double { throw std::runtime_error("out of data"); },
                                  [&] { back = true; }, 0};
  EXPECT_THROW(static_cast<void>(lr_range_test(training)), std::runtime_error);
  EXPECT_TRUE(back);
}

TEST(PlainRangeTest, RefusesWhereNothingFalls) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 0.1);
  const RangeTraining deaf = {[&](double) { return 2.3 + noise(random); }, [] {}, 0};
  const auto found = lr_range_test(deaf);
  EXPECT_EQ(found->outcome, Experiment::Outcome::undecided);
  EXPECT_TRUE(std::isnan(value_of(*found, "suggestion"))) << found->verdict;
  const RangeTraining broken = {[](double) { return std::nan(""); }, [] {}, 0};
  EXPECT_NE(lr_range_test(broken)->verdict.find("before any step"), std::string::npos);
}

TEST(PlainRangeTest, NamesAnOptionThatMeansNothing) {
  Valley valley;
  const auto refusal = [&](RangeTestOptions options) {
    const auto found = lr_range_test(valley.training(), options);
    return found ? std::string() : found.error().message;
  };
  EXPECT_NE(refusal({.start = 0}).find("start"), std::string::npos);
  EXPECT_NE(refusal({.start = 1, .end = 0.1}).find("end"), std::string::npos);
  EXPECT_NE(refusal({.steps = 5}).find("steps"), std::string::npos);
  EXPECT_NE(refusal({.repeats = 0}).find("repeats"), std::string::npos);
  EXPECT_NE(refusal({.smoothing = 0}).find("smoothing"), std::string::npos);
  EXPECT_NE(refusal({.divergence = 1}).find("divergence"), std::string::npos);
  EXPECT_FALSE(lr_range_test({}));
  EXPECT_EQ(valley.steps_, 0) << "nothing was trained";
}

}  // namespace
}  // namespace osler::probes
