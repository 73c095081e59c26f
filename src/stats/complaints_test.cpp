// What is said of single gradients and activations.
#include "osler/stats/complaints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "osler/stats/engine.h"

namespace osler::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TensorStats measured(const std::vector<float>& values, const SummaryOptions& options = {}) {
  const auto engine = make_cpu_engine(0);
  Batch batch;
  const std::size_t number = batch.summarize(TensorView::of(std::span<const float>(values)), options);
  EXPECT_TRUE(engine->submit(batch));
  engine->wait(batch);
  return batch.summary(number);
}

TEST(GradientComplaints, ASoundGradientHasNone) {
  EXPECT_THAT(gradient_complaints(measured({0.1F, -0.2F, 0.3F, 0.05F})), IsEmpty());
}

TEST(GradientComplaints, EachFaultIsASentence) {
  EXPECT_THAT(gradient_complaints(measured({0.1F, std::numeric_limits<float>::quiet_NaN(), 0.3F})),
              ElementsAre("1 of 3 elements are NaN, the first at 1"));
  EXPECT_THAT(gradient_complaints(measured({0.1F, 0.3F, std::numeric_limits<float>::infinity()})),
              ElementsAre("1 of 3 elements are infinite, the first at 2"));
  EXPECT_THAT(gradient_complaints(measured({3000, 4000})), ElementsAre("the norm is 5000, above 1000"));
  EXPECT_THAT(gradient_complaints(measured({0, 0, 0, 0.5F})), ElementsAre("75 % of the elements are exactly zero"));
  EXPECT_THAT(gradient_complaints(measured({0, 0})), ElementsAre("every element is exactly zero"));
  EXPECT_THAT(gradient_complaints(measured({3e-10F, 4e-10F})),
              ElementsAre("the norm is 5e-10, below 1e-08", "100 % of the elements are nearly zero"));
}

TEST(ActivationComplaints, DeadSaturatedAlikeAndHuge) {
  EXPECT_THAT(activation_complaints(measured({0.2F, -0.4F, 0.9F})), IsEmpty());
  EXPECT_THAT(activation_complaints(measured({0, 0, 0, 1})), ElementsAre("75 % of the elements are exactly zero"));
  EXPECT_THAT(activation_complaints(measured({0.999F, -0.999F, 0.1F, 0.2F}, {.low = -0.99, .high = 0.99})),
              ElementsAre("50 % of the elements are saturated"));
  EXPECT_THAT(activation_complaints(measured({0.5F, 0.5F})), ElementsAre("the deviation is 0: all elements are alike"));
  EXPECT_THAT(activation_complaints(measured({1, 2000})), ElementsAre("the largest magnitude is 2000, above 1000"));
}

}  // namespace
}  // namespace osler::stats
