// Products, differences and lost updates of two tensors are those of the specification.
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "stats/reference.h"
#include "stats/test_tensors.h"

namespace osler::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> normal(std::size_t count, double deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution(0, deviation);
  std::vector<double> values(count);
  for (double& x : values) x = distribution(random);
  return values;
}

void expect_as_specified(const TensorView& a, const TensorView& b) {
  Batch batch;
  ASSERT_TRUE(batch.compare(a, b));
  run_here(batch);
  const PairStats& got = batch.pair(0);
  const PairStats want = reference::compare(a, b);
  EXPECT_EQ(got.count, want.count);
  EXPECT_EQ(got.excluded, want.excluded);
  EXPECT_EQ(got.b_nonzero, want.b_nonzero);
  EXPECT_EQ(got.below_resolution, want.below_resolution);
  EXPECT_NEAR(got.a_squared, want.a_squared, 1e-12 * want.a_squared);
  EXPECT_NEAR(got.b_squared, want.b_squared, 1e-12 * want.b_squared);
  EXPECT_NEAR(got.difference_squared, want.difference_squared, 1e-12 * want.difference_squared);
  EXPECT_NEAR(got.dot, want.dot, 1e-12 * std::sqrt(want.a_squared * want.b_squared));
}

TEST(Pair, EveryTypeAgainstEveryTypeAtEverySize) {
  const std::vector<double> weights = normal(5000, 1, 1);
  std::vector<double> updates = normal(5000, 1, 2);
  for (std::size_t i = 0; i < updates.size(); ++i) updates[i] *= std::pow(10.0, -static_cast<double>(i % 20));
  on_every_target([&](const char* target) {
    for (const DType left : kAllTypes) {
      for (const DType right : kAllTypes) {
        for (const std::size_t size : {0u, 1u, 2u, 3u, 5u, 8u, 13u, 16u, 31u, 32u, 33u, 64u, 65u, 5000u}) {
          SCOPED_TRACE(testing::Message()
                       << target << " " << to_string(left) << " " << to_string(right) << " " << size);
          TypedMemory a(left, std::span(weights).first(size), size % 5);
          TypedMemory b(right, std::span(updates).first(size), size % 3);
          expect_as_specified(a.view(), b.view());
          if (size > 10) {
            a.set(size / 2, kNan);
            b.set(size - 1, std::numeric_limits<double>::infinity());
            b.set(0, 0);
            expect_as_specified(a.view(), b.view());
          }
        }
      }
    }
  });
}

TEST(Pair, SubnormalWeightsHaveTheResolutionOfTheirType) {
  const std::vector<double> weights = {0, 1e-45, 1e-40, 6e-8, 6e-5, 1e-38, 1e-300, 5e-324};
  const std::vector<double> updates = {1e-46, 1e-45, 2e-41, 2e-8, 3e-8, 1e-44, 1e-320, 5e-324};
  on_every_target([&](const char* target) {
    for (const DType left : kAllTypes) {
      for (const DType right : kAllTypes) {
        SCOPED_TRACE(testing::Message() << target << " " << to_string(left) << " " << to_string(right));
        expect_as_specified(TypedMemory(left, weights).view(), TypedMemory(right, updates).view());
      }
    }
  });
}

TEST(Pair, AnUpdateBelowHalfTheSpacingIsLost) {
  // Adding to a bfloat16 1.0 anything below 2^-8 gives 1.0 again.
  const TypedMemory weights(DType::bf16, std::vector<double>(4, 1.0));
  const TypedMemory updates(DType::f32, std::vector<double>{0x1p-8, -0x1.fp-9, 1e-3, 0});
  Batch batch;
  ASSERT_TRUE(batch.compare(weights.view(), updates.view()));
  run_here(batch);
  EXPECT_EQ(batch.pair(0).b_nonzero, 3u);
  EXPECT_EQ(batch.pair(0).below_resolution, 2u);
  EXPECT_DOUBLE_EQ(batch.pair(0).lost_share(), 2.0 / 3);
}

TEST(Pair, RatiosAndCosineFollowFromTheSums) {
  const std::vector<double> before = {3, 4};
  const std::vector<double> after = {3, 4.5};
  Batch batch;
  ASSERT_TRUE(batch.compare(TensorView::of(before), TensorView::of(after)));
  run_here(batch);
  EXPECT_DOUBLE_EQ(batch.pair(0).relative_change(), 0.1);
  EXPECT_DOUBLE_EQ(batch.pair(0).relative_size(), std::sqrt(29.25) / 5);
  EXPECT_DOUBLE_EQ(batch.pair(0).cosine(), 27 / (5 * std::sqrt(29.25)));
  EXPECT_EQ(PairStats{}.cosine(), 0);
  EXPECT_EQ(PairStats{}.relative_change(), 0);
  EXPECT_EQ(PairStats{}.lost_share(), 0);
}

TEST(Pair, DifferentSizesCannotBeCompared) {
  const std::vector<double> values(6);
  Batch batch;
  const Result<std::size_t> asked = batch.compare(TensorView::of(values), TensorView::of(std::span(values).first(5)));
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, ErrorCode::invalid_argument);
}

TEST(GradientNoise, IsRecoveredFromSimulatedMiniBatches) {
  // A true gradient of squared norm 4 in 400 dimensions, sample noise of variance 9 in each: noise 3600, scale 900.
  constexpr std::size_t kDimensions = 400;
  constexpr double kBatch = 500;
  const double signal = std::sqrt(4.0 / kDimensions);
  const double deviation = std::sqrt(9.0 / kBatch);
  std::vector<PairStats> pairs;
  double small = 0;
  double big = 0;
  constexpr unsigned kPairs = 400;
  for (unsigned i = 0; i < kPairs; ++i) {
    std::vector<double> a = normal(kDimensions, deviation, 2 * i + 1);
    std::vector<double> b = normal(kDimensions, deviation, 2 * i + 2);
    for (double& x : a) x += signal;
    for (double& x : b) x += signal;
    Batch batch;
    ASSERT_TRUE(batch.compare(TensorView::of(a), TensorView::of(b)));
    run_here(batch);
    pairs.push_back(batch.pair(0));
    small += batch.pair(0).a_squared / kPairs;
    // The mean of two batches is one batch of twice the size.
    big += (batch.pair(0).a_squared + batch.pair(0).b_squared + 2 * batch.pair(0).dot) / 4 / kPairs;
  }
  EXPECT_NEAR(gradient_noise(pairs, kBatch).scale(), 900, 45);
  EXPECT_NEAR(gradient_noise(pairs, kBatch).signal, 4, 0.2);
  EXPECT_NEAR(gradient_noise(small, kBatch, big, 2 * kBatch).scale(), 900, 45);
  EXPECT_TRUE(std::isinf(gradient_noise({}, kBatch).scale()));
}

/// The memory of a tensor that is followed; zeroed, as for a tensor of zeros.
std::vector<double> memory_for(const TypedMemory& tensor, DType type) {
  return std::vector<double>((Batch::memory_to_follow(type, tensor.size()) + 7) / 8, 0.0);
}

/// Follows a tensor to what it is now; the squared distance.
double follow(const TypedMemory& tensor, std::vector<double>& memory) {
  Batch batch;
  EXPECT_TRUE(batch.follow(tensor.view(), memory.data()));
  run_here(batch);
  return batch.moved(0);
}

TEST(Follow, MeasuresTheTensorAndItsWayAndRemembersIt) {
  const std::vector<double> weights = normal(40000, 1, 3);
  std::vector<double> moved = weights;
  const std::vector<double> steps = normal(40000, 0.01, 4);
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += steps[i];
  on_every_target([&](const char* target) {
    for (const DType type : kAllTypes) {
      for (const std::size_t size : {1u, 7u, 33u, 5000u, 40000u}) {
        SCOPED_TRACE(testing::Message() << target << " " << to_string(type) << " " << size);
        const TypedMemory before(type, std::span(weights).first(size));
        TypedMemory now(type, std::span(moved).first(size));
        if (size > 10) now.set(3, kNan);
        std::vector<double> memory = memory_for(now, type);
        const bool copied = Batch::memory_to_follow(type, size) == size * element_bytes(type);
        EXPECT_EQ(copied, size < 40000 || type != DType::f32);
        Batch batch;
        batch.summarize(now.view(), {.brief = true});
        ASSERT_TRUE(batch.compare(before.view(), now.view()));
        run_here(batch);
        const TensorStats stats = batch.summary(0);
        const double distance = batch.pair(0).difference_squared;
        batch.clear();
        follow(before, memory);
        ASSERT_TRUE(batch.follow(now.view(), memory.data()));
        run_here(batch);
        EXPECT_EQ(batch.summary(0), stats);
        EXPECT_NEAR(batch.moved(0), distance, (copied ? 1e-6 : 0.1) * distance);
        if (copied) {
          EXPECT_EQ(std::memcmp(memory.data(), now.data(), size * element_bytes(type)), 0);
        }
        now.set(0, 5);
        follow(now, memory);
        EXPECT_EQ(follow(now, memory), 0) << "nothing has changed since";
      }
    }
  });
}

TEST(Follow, EstimatesTheWayOfALargeTensorAsWellAsItPromises) {
  constexpr std::size_t kSize = 20000;
  constexpr int kSteps = 200;
  TypedMemory tensor(DType::f32, normal(kSize, 1, 5));
  std::vector<double> memory = memory_for(tensor, DType::f32);
  EXPECT_LE(8 * memory.size(), kSize * sizeof(float) / 15);
  follow(tensor, memory);
  double bias = 0;
  double spread = 0;
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<double> values = normal(kSize, 1, 6 + static_cast<unsigned>(step));
    const TypedMemory before = std::exchange(tensor, TypedMemory(DType::f32, values));
    Batch batch;
    ASSERT_TRUE(batch.compare(before.view(), tensor.view()));
    run_here(batch);
    const double error = follow(tensor, memory) / batch.pair(0).difference_squared - 1;
    bias += error / kSteps;
    spread += error * error / kSteps;
  }
  const double promised = std::sqrt(32.0 / kSize);
  EXPECT_NEAR(bias, 0, 4 * promised / std::sqrt(kSteps));
  EXPECT_LT(std::sqrt(spread), 1.25 * promised);
}

TEST(Follow, SeesAChangeWhereverItIsAndMeasuresItAlone) {
  constexpr std::size_t kSize = 17000;
  TypedMemory tensor(DType::f32, std::vector<double>(kSize, 0.0));
  std::vector<double> memory = memory_for(tensor, DType::f32);
  for (const std::size_t at : {0u, 255u, 256u, 4095u, 4096u, 16384u, 16999u}) {
    tensor.set(at, 3);
    EXPECT_EQ(follow(tensor, memory), 9) << at;
  }
  // The same step everywhere, as from an optimizer that follows signs, is no special case.
  TypedMemory ones(DType::f32, std::vector<double>(16 * 4096, 1.0));
  std::vector<double> other = memory_for(ones, DType::f32);
  EXPECT_EQ(follow(ones, other), 16 * 4096);
}

TEST(Follow, TakesAnyOrderOfDenseMemoryAndNoOther) {
  const std::vector<double> values = normal(24, 1, 5);
  TypedMemory memory(DType::f32, values);
  std::vector<float> before(24, 0.0f);
  Batch batch;
  ASSERT_TRUE(batch.follow(memory.view({4, 6}, {1, 4}), before.data()));
  run_here(batch);
  const double square = std::pow(batch.summary(0).l2(), 2);
  EXPECT_NEAR(batch.moved(0), square, 1e-5 * square);
  EXPECT_EQ(std::memcmp(before.data(), memory.data(), sizeof(float) * before.size()), 0);
  EXPECT_FALSE(batch.follow(memory.view({4, 3}, {6, 1}), before.data()));
}

}  // namespace
}  // namespace osler::stats
