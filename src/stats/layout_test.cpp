// Tensors that are not dense are measured as if they were, and indices are those of the tensor, not of memory.
#include "stats/layout.h"

#include <gtest/gtest.h>

#include <numeric>

#include "stats/reference.h"
#include "stats/test_tensors.h"

namespace osler::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> counting(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

struct Case {
  const char* name;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::size_t offset = 0;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"dense", {30, 40}, {40, 1}},
      {"transposed", {40, 30}, {1, 40}},
      {"channels last", {4, 3, 10, 10}, {300, 1, 30, 3}},
      {"a slice of columns", {30, 7}, {40, 1}, 5},
      {"a slice of long rows", {2, 550}, {600, 1}, 3},
      {"every second element", {600}, {2}},
      {"backwards", {1200}, {-1}, 1199},
      {"rows backwards", {30, 40}, {-40, 1}, 29 * 40},
      {"a column repeated", {30, 1000}, {40, 0}},
      {"a row repeated", {1000, 40}, {0, 1}},
      {"the diagonal", {30}, {41}},
      {"one element, no dimension", {}, {}},
      {"dimensions of size one", {1, 30, 1, 40, 1}, {7, 40, 99, 1, -3}},
      {"nothing", {5, 0, 3}, {100, 50, 1}},
      {"inner axes swapped", {5, 6, 8, 5}, {240, 1, 30, 6}},
  };
  return all;
}

TEST(Layout, NonContiguousTensorsAreMeasuredAsSpecified) {
  const std::vector<double> values = counting(1200);
  for (const DType dtype : kAllTypes) {
    TypedMemory memory(dtype, values);
    memory.set(333, kNan);
    memory.set(334, -std::numeric_limits<double>::infinity());
    memory.set(42, kNan);
    for (const Case& c : cases()) {
      SCOPED_TRACE(testing::Message() << to_string(dtype) << " " << c.name);
      const TensorView tensor = memory.view(c.sizes, c.strides, c.offset);
      Batch batch;
      batch.summarize(tensor, {.histogram = true});
      run_here(batch);
      const TensorStats want = reference::summarize(tensor, {});
      EXPECT_EQ(batch.summary(0).count, want.count);
      EXPECT_EQ(batch.summary(0).first_nan, want.first_nan);
      EXPECT_EQ(batch.summary(0).first_inf, want.first_inf);
      EXPECT_EQ(batch.summary(0).nan_count, want.nan_count);
      EXPECT_EQ(batch.summary(0).max, want.max);
      EXPECT_NEAR(batch.summary(0).mean, want.mean, 1e-6 * std::abs(want.mean));
      EXPECT_NEAR(batch.summary(0).m2, want.m2, 1e-5 * want.m2);
      EXPECT_EQ(batch.histogram(0), reference::histogram(tensor));
    }
  }
}

TEST(Layout, PairsWalkBothTensorsInStep) {
  const std::vector<double> values = counting(1200);
  const TypedMemory dense(DType::f32, values);
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const TypedMemory memory(DType::f64, values);
    const TensorView strided = memory.view(c.sizes, c.strides, c.offset);
    if (strided.count() > values.size()) continue;
    const TensorView other = dense.view(c.sizes);
    Batch batch;
    ASSERT_TRUE(batch.compare(other, strided));
    ASSERT_TRUE(batch.compare(strided, other));
    run_here(batch);
    const PairStats want = reference::compare(other, strided);
    EXPECT_NEAR(batch.pair(0).dot, want.dot, 1e-12 * want.dot);
    EXPECT_NEAR(batch.pair(1).dot, want.dot, 1e-12 * want.dot);
    EXPECT_NEAR(batch.pair(0).difference_squared, want.difference_squared, 1e-12 * want.difference_squared);
  }
}

TEST(Layout, DenseMemoryIsOneRunWhateverTheOrderOfDimensions) {
  const TypedMemory memory(DType::f32, counting(240));
  const Layout swapped(memory.view({4, 5, 12}, {12, 48, 1}));
  EXPECT_EQ(swapped.walk().rank, 1u);
  EXPECT_FALSE(swapped.in_order());
  const Layout dense(memory.view({4, 5, 12}));
  EXPECT_EQ(dense.walk().rank, 1u);
  EXPECT_TRUE(dense.in_order());
}

TEST(Layout, AViewThatCannotBeIsRefused) {
  const std::vector<double> values(10);
  const auto refused = [&](const void* data, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides) {
    const Result<TensorView> view = TensorView::strided(data, DType::f64, sizes, strides);
    return !view && view.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused(values.data(), {-1}, {1}));
  EXPECT_TRUE(refused(values.data(), {2, 2}, {1}));
  EXPECT_TRUE(refused(nullptr, {2}, {1}));
  EXPECT_FALSE(refused(nullptr, {0}, {1}));
  EXPECT_TRUE(refused(reinterpret_cast<const std::byte*>(values.data()) + 1, {2}, {1}));
  EXPECT_TRUE(refused(values.data(), {std::int64_t{1} << 40, std::int64_t{1} << 40}, {1, 1}));
  EXPECT_TRUE(refused(values.data(), {4}, {std::numeric_limits<std::int64_t>::min()}));
  EXPECT_TRUE(refused(values.data(), {4, 4}, {std::int64_t{1} << 58, std::int64_t{1} << 59}));
  EXPECT_TRUE(refused(values.data(), std::vector<std::int64_t>(17, 1), std::vector<std::int64_t>(17, 1)));
}

}  // namespace
}  // namespace osler::stats
