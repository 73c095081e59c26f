// Collapse of a representation shows as rows that point the same way and hardly differ.
#include <gtest/gtest.h>

#include <random>

#include "stats/reference.h"
#include "stats/test_tensors.h"

namespace osler::stats {
namespace {

std::vector<double> normal(std::size_t count, double mean) {
  std::mt19937 random(3);
  std::normal_distribution<double> distribution(mean, 1);
  std::vector<double> values(count);
  for (double& x : values) x = distribution(random);
  return values;
}

RowSimilarity similarity(const TensorView& tensor) {
  Batch batch;
  EXPECT_TRUE(batch.compare_rows(tensor));
  run_here(batch);
  return batch.rows(0);
}

TEST(RowSimilarity, EveryTypeAndLayoutAsSpecified) {
  const std::vector<double> values = normal(12 * 700, 0.5);
  on_every_target([&](const char* target) {
    for (const DType dtype : kAllTypes) {
      TypedMemory memory(dtype, values);
      for (std::size_t f = 0; f < 700; ++f) memory.set(3 * 700 + f, 0);
      memory.set(5 * 700 + 9, std::numeric_limits<double>::infinity());
      for (const TensorView& tensor : {memory.view({12, 700}), memory.view({12, 7, 100}, {700, 1, 7}),
                                       memory.view({700, 12}, {1, 700}), memory.view({12, 350}, {700, 2})}) {
        SCOPED_TRACE(testing::Message() << target << " " << to_string(dtype));
        const RowSimilarity got = similarity(tensor);
        const RowSimilarity want = reference::compare_rows(tensor);
        EXPECT_EQ(got.rows, want.rows);
        EXPECT_EQ(got.features, want.features);
        EXPECT_EQ(got.zero_rows, want.zero_rows);
        EXPECT_EQ(got.nonfinite_rows, want.nonfinite_rows);
        EXPECT_NEAR(got.mean_cosine, want.mean_cosine, 1e-12);
        EXPECT_NEAR(got.spread, want.spread, 1e-12);
      }
    }
  });
}

TEST(RowSimilarity, EqualRowsAreCollapsed) {
  std::vector<double> values = normal(64, 0);
  for (std::size_t i = 0; i < 4; ++i) values.insert(values.end(), values.begin(), values.begin() + 64);
  const std::int64_t sizes[] = {5, 64};
  const RowSimilarity got = similarity(TensorView::contiguous(values.data(), DType::f64, sizes).value());
  EXPECT_NEAR(got.mean_cosine, 1, 1e-12);
  EXPECT_NEAR(got.spread, 0, 1e-12);
}

TEST(RowSimilarity, IndependentRowsAreNot) {
  const TypedMemory memory(DType::f32, normal(64 * 1000, 0));
  const RowSimilarity got = similarity(memory.view({64, 1000}));
  EXPECT_NEAR(got.mean_cosine, 0, 0.01);
  EXPECT_GT(got.spread, 0.95);
}

TEST(RowSimilarity, WithoutTwoDirectionsThereIsNothingToCompare) {
  const std::vector<float> values(10, 0.0f);
  const std::int64_t sizes[] = {5, 2};
  const RowSimilarity got = similarity(TensorView::contiguous(values.data(), DType::f32, sizes).value());
  EXPECT_EQ(got.zero_rows, 5u);
  EXPECT_TRUE(std::isnan(got.mean_cosine));
  EXPECT_TRUE(std::isnan(got.spread));
  const std::int64_t none[] = {0, 3};
  EXPECT_EQ(similarity(TensorView::contiguous(nullptr, DType::f32, none).value()).features, 0u);
  Batch batch;
  EXPECT_FALSE(batch.compare_rows(TensorView::contiguous(values.data(), DType::f32, {}).value()));
}

}  // namespace
}  // namespace osler::stats
