// Silent and dead units are found whatever the tensor's type and layout.
#include <gtest/gtest.h>

#include <random>

#include "stats/reference.h"
#include "stats/test_tensors.h"

namespace osler::stats {
namespace {

std::vector<double> sparse(std::size_t count) {
  std::mt19937 random(5);
  std::normal_distribution<double> distribution;
  std::vector<double> values(count);
  for (double& x : values) x = std::max(0.0, distribution(random) - 1) * (random() % 2 == 0 ? 1 : -1);
  return values;
}

TEST(UnitActivity, EveryAxisOfEveryLayoutAsSpecified) {
  const std::vector<double> values = sparse(6 * 70 * 9);
  on_every_target([&](const char* target) {
    for (const DType dtype : kAllTypes) {
      const TypedMemory memory(dtype, values);
      const TensorView dense = memory.view({6, 70, 9});
      const TensorView last = memory.view({6, 70, 9}, {630, 1, 70});
      const TensorView sliced = memory.view({6, 30, 4}, {630, 18, 2}, 1);
      for (const TensorView& tensor : {dense, last, sliced}) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
          for (const double threshold : {0.0, 0.3}) {
            SCOPED_TRACE(testing::Message() << target << " " << to_string(dtype) << " axis " << axis);
            Batch batch;
            ASSERT_TRUE(batch.count_units(tensor, axis, threshold));
            run_here(batch);
            EXPECT_EQ(batch.units(0), reference::count_units(tensor, axis, threshold));
          }
        }
      }
    }
  });
}

TEST(UnitActivity, NotANumberIsNotSilence) {
  std::vector<float> values(40, 0.0f);
  values[13] = std::numeric_limits<float>::quiet_NaN();
  values[27] = -0.0f;
  const std::int64_t sizes[] = {4, 10};
  Batch batch;
  ASSERT_TRUE(batch.count_units(TensorView::contiguous(values.data(), DType::f32, sizes).value(), 1));
  run_here(batch);
  EXPECT_EQ(batch.units(0).silent(), 9u);
  EXPECT_EQ(batch.units(0).active[3], 1u);
}

TEST(UnitActivity, AnAxisThatIsNotThereIsRefused) {
  const std::vector<float> values(10);
  Batch batch;
  EXPECT_FALSE(batch.count_units(TensorView::of(values), 1));
  EXPECT_FALSE(batch.count_units(TensorView::of(values), 0, -1));
  EXPECT_FALSE(batch.count_units(TensorView::of(values), 0, std::numeric_limits<double>::quiet_NaN()));
}

TEST(DeadUnitWindow, AUnitIsDeadOnlyAfterAWholeWindowOfSilence) {
  DeadUnitWindow window(3, 4);
  const auto batch = [](std::uint32_t a, std::uint32_t b, std::uint32_t c) { return UnitActivity{8, {a, b, c}}; };
  window.add(batch(1, 0, 0));
  window.add(batch(1, 0, 0));
  window.add(batch(1, 0, 2));
  EXPECT_EQ(window.dead_count(), 0u) << "the window is not full yet";
  window.add(batch(0, 0, 0));
  EXPECT_TRUE(window.full());
  EXPECT_TRUE(window.dead(1));
  EXPECT_EQ(window.dead_count(), 1u);
  for (int i = 0; i < 3; ++i) window.add(batch(5, 0, 0));
  EXPECT_TRUE(window.dead(2)) << "silent for the last four";
  EXPECT_DOUBLE_EQ(window.dead_share(), 2.0 / 3);
  window.add(batch(0, 1, 0));
  EXPECT_FALSE(window.dead(1)) << "it came back";
}

TEST(DeadUnitWindow, AnEmptyBatchProvesNothing) {
  DeadUnitWindow window(1, 1);
  window.add({0, {0}});
  EXPECT_FALSE(window.dead(0));
  window.add({1, {0, 0}});
  EXPECT_EQ(window.units(), 2u) << "the layer changed";
  EXPECT_EQ(window.dead_count(), 2u);
}

}  // namespace
}  // namespace osler::stats
