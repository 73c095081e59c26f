// The statistics of one tensor are those of the specification, on every instruction set, for every type and size.
#include <gtest/gtest.h>

#include <random>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "stats/reference.h"
#include "stats/test_tensors.h"

namespace osler::stats {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The bounds that the header promises for brief statistics, and for all.
void expect_briefly_within_bounds(const TensorStats& got, const TensorStats& want, DType dtype) {
  const bool narrow = dtype != DType::f64;
  const double n = static_cast<double>(std::max<std::uint64_t>(want.finite_count(), 1));
  const double r = std::sqrt(want.m2 / n);
  EXPECT_EQ(got.count, want.count);
  EXPECT_EQ(got.nan_count, want.nan_count);
  EXPECT_EQ(got.inf_count, want.inf_count);
  EXPECT_EQ(got.first_nan, want.first_nan);
  EXPECT_EQ(got.first_inf, want.first_inf);
  EXPECT_EQ(got.abs_max(), want.abs_max());
  EXPECT_EQ(got.zeros, want.zeros);
  EXPECT_EQ(got.near_zeros, want.near_zeros);
  EXPECT_EQ(got.saturated_low, want.saturated_low);
  EXPECT_EQ(got.saturated_high, want.saturated_high);
  EXPECT_NEAR(got.m2, want.m2, (narrow ? 1e-5 : 1e-12) * want.m2);
  EXPECT_NEAR(got.mean, want.mean, narrow ? 2e-6 * r + 1e-13 * std::abs(want.mean) : 1e-13 * (r + std::abs(want.mean)));
  EXPECT_GE(got.m2, 0);
}
void expect_within_bounds(const TensorStats& got, const TensorStats& want, DType dtype) {
  expect_briefly_within_bounds(got, want, dtype);
  EXPECT_EQ(got.min, want.min);
  EXPECT_EQ(got.max, want.max);
  EXPECT_EQ(got.smallest_nonzero, want.smallest_nonzero);
  EXPECT_NEAR(got.l1, want.l1, (dtype != DType::f64 ? 1e-6 : 1e-12) * want.l1);
}

/// Measures a tensor briefly, in full, and with its histogram, and compares all with the specification.
void expect_as_specified(const TensorView& tensor, SummaryOptions options = {}) {
  Batch batch;
  batch.summarize(tensor, options);
  options.histogram = true;
  batch.summarize(tensor, options);
  options.histogram = false;
  options.brief = true;
  batch.summarize(tensor, options);
  run_here(batch);
  expect_briefly_within_bounds(batch.summary(2), reference::summarize(tensor, options), tensor.dtype());
  expect_within_bounds(batch.summary(0), reference::summarize(tensor, options), tensor.dtype());
  EXPECT_EQ(batch.summary(0), batch.summary(1));
  EXPECT_EQ(batch.histogram(1), reference::histogram(tensor));
  EXPECT_EQ(batch.histogram(0), LogHistogram{});
}

std::vector<double> normal(std::size_t count, double mean, double deviation, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution(mean, deviation);
  std::vector<double> values(count);
  for (double& x : values) x = distribution(random);
  return values;
}

/// Every magnitude of a type with equal chance, either sign.
std::vector<double> any_magnitude(std::size_t count, DType dtype) {
  std::mt19937_64 random(2);
  const std::uint64_t largest = threshold_bits(dtype, dtype == DType::f64 ? 1e140 : 3e38);
  const std::uint64_t smallest = dtype == DType::f64 ? threshold_bits(dtype, 1e-140) : 0;
  std::vector<double> values(count);
  for (double& x : values) {
    const std::uint64_t bits = smallest + random() % (largest - smallest + 1);
    std::byte raw[8];
    std::memcpy(raw, &bits, sizeof bits);
    x = load_element(raw, dtype) * (random() % 2 == 0 ? 1 : -1);
  }
  return values;
}

TEST(Summary, EverySizeUpToTwoVectorsAndOneMoreAtEveryAlignment) {
  const std::vector<double> values = normal(4200, 0.1, 1);
  on_every_target([&](const char* target) {
    for (const DType dtype : kAllTypes) {
      for (std::size_t size = 0; size <= 2 * 32 + 1; ++size) {
        SCOPED_TRACE(testing::Message() << target << " " << to_string(dtype) << " size " << size);
        const TypedMemory memory(dtype, std::span(values).first(size), size % 17);
        expect_as_specified(memory.view(), {.near_zero = 0.1, .low = -0.5, .high = 0.5});
      }
      for (const std::size_t size : {127u, 128u, 129u, 511u, 1000u, 4095u, 4096u, 4097u}) {
        SCOPED_TRACE(testing::Message() << target << " " << to_string(dtype) << " size " << size);
        const TypedMemory memory(dtype, std::span(values).first(size), 3);
        expect_as_specified(memory.view(), {.near_zero = 0.1, .low = -0.5, .high = 0.5});
      }
    }
  });
}

TEST(Summary, EveryKindOfContent) {
  constexpr std::size_t kCount = 9000;
  on_every_target([&](const char* target) {
    for (const DType dtype : kAllTypes) {
      std::vector<std::pair<const char*, std::vector<double>>> contents = {
          {"weights", normal(kCount, 0, 0.02)},
          {"far from zero", normal(kCount, 1000, 1)},
          {"vanishing gradients", normal(kCount, 0, 1e-20)},
          {"at the end of float", normal(kCount, 0, 1e-38)},
          {"subnormal floats", normal(kCount, 0, 1e-42)},
          {"huge", normal(kCount, 0, 1e37)},
          {"negative only", normal(kCount, -50, 1)},
          {"about as far from zero as a brief look can bear", normal(kCount, 2.8, 1)},
          {"any magnitude", any_magnitude(kCount, dtype)},
          {"constant", std::vector<double>(kCount, 0.3)},
          {"zeros", std::vector<double>(kCount, 0.0)},
          {"negative zeros", std::vector<double>(kCount, -0.0)},
          {"not a number", std::vector<double>(kCount, kNan)},
          {"infinite", std::vector<double>(kCount, -kInf)},
      };
      std::vector<double> relu = normal(kCount, 0, 1);
      for (double& x : relu) x = std::max(x, 0.0);
      contents.emplace_back("after a rectifier", relu);
      std::vector<double> outlier = normal(kCount, 1, 0.01);
      outlier[0] = 100;
      contents.emplace_back("an outlier in front", outlier);
      std::vector<double> sprinkled = normal(kCount, 3, 1);
      for (std::size_t i = 77; i < kCount; i += 501) sprinkled[i] = i % 2 == 0 ? kNan : (i % 3 == 0 ? kInf : -kInf);
      contents.emplace_back("some not finite", sprinkled);
      for (const auto& [name, values] : contents) {
        SCOPED_TRACE(testing::Message() << target << " " << to_string(dtype) << " " << name);
        expect_as_specified(TypedMemory(dtype, values).view(), {.near_zero = 1e-3, .low = -1, .high = 2});
      }
    }
  });
}

TEST(Summary, OneNonFiniteElementAnywhereIsFound) {
  std::vector<double> values = normal(300, 0, 1);
  on_every_target([&](const char* target) {
    for (const DType dtype : kAllTypes) {
      TypedMemory memory(dtype, values);
      for (std::size_t i = 0; i < values.size(); i += 7) {
        SCOPED_TRACE(testing::Message() << target << " " << to_string(dtype) << " at " << i);
        memory.set(i, i % 2 == 0 ? kNan : kInf);
        expect_as_specified(memory.view());
        memory.set(i, values[i]);
      }
    }
  });
}

TEST(Summary, ThresholdsMeanWhatTheySayEvenBetweenTwoFloats) {
  const float value = 0.1f;  // a little above the double 0.1
  const std::vector<float> values(100, value);
  Batch batch;
  batch.summarize(TensorView::of(values), {.near_zero = 0.1, .low = 0.1, .high = 0.1});
  batch.summarize(TensorView::of(values), {.near_zero = value, .low = value, .high = value});
  run_here(batch);
  EXPECT_EQ(batch.summary(0).near_zeros, 0u);
  EXPECT_EQ(batch.summary(0).saturated_low, 0u);
  EXPECT_EQ(batch.summary(0).saturated_high, 100u);
  EXPECT_EQ(batch.summary(1).near_zeros, 100u);
  EXPECT_EQ(batch.summary(1).saturated_low, 100u);
}

TEST(Summary, ASmallSpreadFarFromZeroSurvives) {
  std::vector<double> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e9 + (i % 2 == 0 ? 1e-3 : -1e-3);
  Batch batch;
  batch.summarize(TensorView::of(values));
  run_here(batch);
  EXPECT_NEAR(batch.summary(0).std_dev(), 1e-3, 1e-7);
}

TEST(Summary, EqualElementsHaveNoSpreadAtAll) {
  const std::vector<float> values(70001, 0.1f);
  Batch batch;
  batch.summarize(TensorView::of(values));
  run_here(batch);
  EXPECT_EQ(batch.summary(0).m2, 0);
  EXPECT_EQ(batch.summary(0).mean, 0.1f);
}

TEST(Summary, SubnormalNumbersAreNotZerosEvenWhenTheCallerFlushesThem) {
#if defined(__SSE2__)
  const std::vector<float> values(1000, 1e-40f);
  Batch batch;
  batch.summarize(TensorView::of(values));
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush results and operands to zero, as training loops like to
  run_here(batch);
  const unsigned during = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(batch.summary(0).zeros, 0u);
  EXPECT_EQ(batch.summary(0).smallest_nonzero, 1e-40f);
  EXPECT_EQ(during & 0x8040u, 0x8040u) << "the caller's setting is left alone";
#else
  GTEST_SKIP() << "flushing is switched on by an x86 register";
#endif
}

TEST(Summary, DerivedNumbersFollowFromTheFields) {
  const std::vector<double> values = {-3, 0, 0, 4, kNan, -1e-9};
  Batch batch;
  batch.summarize(TensorView::of(values), {.low = -3, .high = 4});
  run_here(batch);
  const TensorStats& stats = batch.summary(0);
  EXPECT_EQ(stats.finite_count(), 5u);
  EXPECT_DOUBLE_EQ(stats.l2(), 5);
  EXPECT_DOUBLE_EQ(stats.abs_max(), 4);
  EXPECT_DOUBLE_EQ(stats.mean_abs(), 7.000000001 / 5);
  EXPECT_DOUBLE_EQ(stats.zero_share(), 0.4);
  EXPECT_DOUBLE_EQ(stats.near_zero_share(), 0.6);
  EXPECT_DOUBLE_EQ(stats.saturated_share(), 0.4);
  EXPECT_NEAR(stats.variance(), (25 - 5 * 0.04) / 4, 1e-8);
  EXPECT_EQ(TensorStats{}.variance(), 0);
  EXPECT_EQ(TensorStats{}.abs_max(), 0);
  EXPECT_EQ(TensorStats{}.zero_share(), 0);
}

TEST(Summary, PartsAppendToTheWhole) {
  std::vector<double> values = normal(5000, 2, 3);
  values[4000] = kInf;
  Batch batch;
  batch.summarize(TensorView::of(values));
  batch.summarize(TensorView::of(std::span(values).first(1234)));
  batch.summarize(TensorView::of(std::span(values).subspan(1234)));
  run_here(batch);
  TensorStats joined;
  joined.append(batch.summary(1));
  joined.append(batch.summary(2));
  expect_within_bounds(joined, batch.summary(0), DType::f64);
  EXPECT_EQ(joined.first_inf, 4000u);
}

}  // namespace
}  // namespace osler::stats
