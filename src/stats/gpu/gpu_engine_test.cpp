// The engine on a GPU against the engine on the host: run where there is a GPU, passed over with a word elsewhere.
#include "osler/stats/gpu_engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "stats/gpu/driver.h"
#include "stats/test_tensors.h"

namespace osler::stats::gpu {
namespace {

constexpr Device kGpu{Device::Kind::cuda, 0};

/// One engine and one context for all tests; null, with the reason, where there is no GPU.
struct Machine {
  std::unique_ptr<GpuEngine> engine;
  std::shared_ptr<const Driver> driver;
  std::string reason;
};

Machine& machine() {
  static Machine the = [] {
    Machine made;
    GpuOptions options;
    if (const char* const path = std::getenv("OSLER_TEST_NVRTC")) options.compilers.emplace_back(path);
    if (const char* const folder = std::getenv("OSLER_TEST_KERNELS")) options.cache_folder = folder;
    auto engine = make_gpu_engine(options);
    if (!engine) {
      made.reason = describe(engine.error());
      return made;
    }
    made.engine = std::move(*engine);
    made.driver = *Driver::load(options.driver);
    int device = 0;
    Context context = nullptr;
    made.driver->device(&device, 0);
    made.driver->retain_context(&context, device);
    made.driver->push_context(context);
    return made;
  }();
  return the;
}

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (machine().engine == nullptr) GTEST_SKIP() << machine().reason;
  }
  static GpuEngine& engine() { return *machine().engine; }
};

/// The same values on the host and on the GPU, some elements into their memory.
class Twin {
 public:
  Twin(DType dtype, std::span<const double> values, std::size_t misaligned_by = 0)
      : dtype_(dtype), offset_(misaligned_by * element_bytes(dtype)), host_(dtype, values) {
    const std::size_t bytes = values.size() * element_bytes(dtype);
    device_ = machine().engine->allocate(bytes + offset_ + 16).value();
    if (bytes > 0) machine().driver->copy_to_device(address(), host_.data(), bytes, nullptr);
    machine().driver->synchronize_stream(nullptr);
  }
  [[nodiscard]] TensorView host(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
                                std::size_t offset = 0) const {
    return TensorView::strided(host_.data() + offset * element_bytes(dtype_), dtype_, sizes, strides).value();
  }
  [[nodiscard]] TensorView gpu(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
                               std::size_t offset = 0) const {
    const auto* const data = reinterpret_cast<const void*>(address() + offset * element_bytes(dtype_));
    return TensorView::strided(data, dtype_, sizes, strides, kGpu).value();
  }
  [[nodiscard]] TensorView host() const { return host({count()}, {1}); }
  [[nodiscard]] TensorView gpu() const { return gpu({count()}, {1}); }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(host_.size()); }

 private:
  [[nodiscard]] DeviceAddress address() const { return reinterpret_cast<std::uintptr_t>(device_.get()) + offset_; }

  DType dtype_;
  std::size_t offset_;
  TypedMemory host_;
  std::shared_ptr<void> device_;
};

/// What TensorStats and GpuEngine promise.
void expect_same(const TensorStats& found, const TensorStats& expected, DType dtype, const std::string& what) {
  EXPECT_EQ(found.count, expected.count) << what;
  EXPECT_EQ(found.nan_count, expected.nan_count) << what;
  EXPECT_EQ(found.inf_count, expected.inf_count) << what;
  EXPECT_EQ(found.first_nan, expected.first_nan) << what;
  EXPECT_EQ(found.first_inf, expected.first_inf) << what;
  EXPECT_EQ(found.min, expected.min) << what;
  EXPECT_EQ(found.max, expected.max) << what;
  EXPECT_EQ(found.smallest_nonzero, expected.smallest_nonzero) << what;
  EXPECT_EQ(found.zeros, expected.zeros) << what;
  EXPECT_EQ(found.near_zeros, expected.near_zeros) << what;
  EXPECT_EQ(found.saturated_low, expected.saturated_low) << what;
  EXPECT_EQ(found.saturated_high, expected.saturated_high) << what;
  const bool wide = dtype == DType::f64;
  const auto near = [&](double a, double b, double bound, const char* name) {
    if (std::isinf(b)) {
      EXPECT_EQ(a, b) << name << ", " << what;
    } else {
      EXPECT_LE(std::abs(a - b), bound) << name << " " << a << " and " << b << ", " << what;
    }
  };
  const auto finite = static_cast<double>(expected.finite_count());
  const double r = finite > 0 ? std::sqrt(expected.m2 / finite) : 0;
  near(found.l1, expected.l1, (wide ? 2e-12 : 2e-6) * expected.l1, "l1");
  // Parts are put together by their means, which are no better than a double's last digit.
  const double by_means = 1e-15 * std::abs(expected.mean) * r * finite;
  near(found.m2, expected.m2, (wide ? 2e-12 : 1e-4) * expected.m2 + by_means, "m2");
  if (std::isfinite(r)) {
    near(found.mean, expected.mean, (wide ? 2e-13 : 4e-6) * r + 2e-13 * std::abs(expected.mean), "mean");
  }
}

void expect_same(const PairStats& found, const PairStats& expected, const std::string& what) {
  EXPECT_EQ(found.count, expected.count) << what;
  EXPECT_EQ(found.excluded, expected.excluded) << what;
  EXPECT_EQ(found.b_nonzero, expected.b_nonzero) << what;
  EXPECT_EQ(found.below_resolution, expected.below_resolution) << what;
  constexpr double kBound = 4e-12;
  const auto near = [&](double a, double b, double size) {
    if (!std::isfinite(b) || !std::isfinite(size)) return;
    EXPECT_LE(std::abs(a - b), kBound * size) << what;
  };
  near(found.a_squared, expected.a_squared, expected.a_squared);
  near(found.b_squared, expected.b_squared, expected.b_squared);
  near(found.difference_squared, expected.difference_squared, expected.difference_squared);
  near(found.dot, expected.dot, std::sqrt(expected.a_squared) * std::sqrt(expected.b_squared));
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Values of one of many kinds: of a plain network, and of those that break things.
std::vector<double> values_of(std::size_t count, std::mt19937_64& random) {
  std::vector<double> values(count);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  const int kind = static_cast<int>(random() % 12);
  const double scale = std::pow(10.0, -static_cast<double>(random() % 9));
  for (double& x : values) {
    x = normal(random) * scale;
    if (kind == 1) x = 0;
    if (kind == 2 && uniform(random) < 0.9) x = uniform(random) < 0.5 ? 0.0 : -0.0;
    if (kind == 3) x = 1000 + x;
    if (kind == 4) x = 3.25;
    if (kind == 5 && uniform(random) < 1e-3) x = kNaN;
    if (kind == 6 && uniform(random) < 1e-3) x = uniform(random) < 0.5 ? kInf : -kInf;
    if (kind == 7) x = std::ldexp(normal(random), -140);
    if (kind == 8) x = std::ldexp(normal(random), 120);
    if (kind == 9) x = std::ldexp(normal(random), static_cast<int>(random() % 250) - 125);
    if (kind == 10) x = kNaN;
    if (kind == 11) x = std::abs(x) * 1e-6;
  }
  if (kind == 0 && count > 0 && random() % 4 == 0) values[random() % count] = kNaN;
  return values;
}

struct Layouts {
  std::vector<std::int64_t> sizes, strides;
  std::size_t offset = 0;
};

/// A view of `count` elements: whole, transposed, or with gaps and backwards.
Layouts layout_of(std::int64_t count, std::mt19937_64& random) {
  const int kind = static_cast<int>(random() % 4);
  if (kind < 2 || count < 64) return {{count}, {1}};
  const std::int64_t columns = 1 + static_cast<std::int64_t>(random() % 37);
  const std::int64_t rows = count / columns;
  if (kind == 2) return {{columns, rows}, {1, columns}};
  return {{rows / 2, columns}, {2 * columns, -1}, static_cast<std::size_t>(columns - 1)};
}

TEST_F(OnGpu, TenThousandRandomTensorsAgreeWithTheHost) {
  constexpr int kTensors = 10000;
  constexpr int kAtOnce = 250;
  std::mt19937_64 random(20261118);
  Batch ours;
  Batch theirs;
  for (int done = 0; done < kTensors; done += kAtOnce) {
    ours.clear();
    theirs.clear();
    std::vector<std::unique_ptr<Twin>> twins;
    std::vector<DType> types;
    for (int i = 0; i < kAtOnce; ++i) {
      const DType dtype = kAllTypes[random() % 4];
      const std::size_t largest = i % 25 == 0 ? 200000 : i % 5 == 0 ? 20000 : 1500;
      const std::vector<double> values = values_of(random() % largest, random);
      twins.push_back(std::make_unique<Twin>(dtype, values, random() % 3));
      types.push_back(dtype);
      const Layouts at = layout_of(twins.back()->count(), random);
      SummaryOptions options;
      options.histogram = random() % 2 == 0;
      if (random() % 8 == 0) options.low = -0.5, options.high = 0.5;
      ours.summarize(twins.back()->gpu(at.sizes, at.strides, at.offset), options);
      theirs.summarize(twins.back()->host(at.sizes, at.strides, at.offset), options);
    }
    ASSERT_TRUE(engine().submit(ours));
    engine().wait(ours);
    run_here(theirs);
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::string what = "tensor " + std::to_string(done + static_cast<int>(i)) + " of " +
                               std::string(to_string(types[i])) + ", " + std::to_string(theirs.summary(i).count);
      expect_same(ours.summary(i), theirs.summary(i), types[i], what);
      EXPECT_EQ(ours.histogram(i), theirs.histogram(i)) << what;
    }
    if (HasFailure()) break;
  }
}

TEST_F(OnGpu, TheFirstBadElementIsFoundWhereverItIs) {
  for (const DType dtype : kAllTypes) {
    std::vector<double> values(300000, 0.25);
    for (const std::size_t place : {std::size_t{0}, std::size_t{4095}, std::size_t{65536}, values.size() - 1}) {
      values[place] = kInf;
      values[values.size() / 2] = kNaN;
      const Twin twin(dtype, values);
      Batch batch;
      batch.summarize(twin.gpu());
      batch.summarize(twin.gpu({3, 100000}, {1, 3}));
      ASSERT_TRUE(engine().submit(batch));
      engine().wait(batch);
      EXPECT_EQ(batch.summary(0).first_inf, place);
      EXPECT_EQ(batch.summary(0).first_nan, values.size() / 2);
      EXPECT_EQ(batch.summary(1).first_inf, place % 3 * 100000 + place / 3);
      values[place] = values[values.size() / 2] = 0.25;
    }
  }
}

TEST_F(OnGpu, PairsAgreeWithTheHost) {
  std::mt19937_64 random(5);
  for (int turn = 0; turn < 300; ++turn) {
    const std::size_t count = random() % (turn % 10 == 0 ? 300000 : 5000);
    const DType a = kAllTypes[random() % 4];
    const DType b = turn % 3 == 0 ? kAllTypes[random() % 4] : a;
    const Twin x(a, values_of(count, random), random() % 2);
    const Twin y(b, values_of(count, random), random() % 2);
    const Layouts at = layout_of(x.count(), random);
    Batch ours;
    Batch theirs;
    ASSERT_TRUE(ours.compare(x.gpu(at.sizes, at.strides, at.offset), y.gpu(at.sizes, at.strides, at.offset)));
    ASSERT_TRUE(theirs.compare(x.host(at.sizes, at.strides, at.offset), y.host(at.sizes, at.strides, at.offset)));
    ASSERT_TRUE(engine().submit(ours));
    engine().wait(ours);
    run_here(theirs);
    expect_same(ours.pair(0), theirs.pair(0), "pair " + std::to_string(turn) + " of " + std::to_string(count));
  }
}

TEST_F(OnGpu, UnitsAgreeWithTheHost) {
  std::mt19937_64 random(7);
  for (const DType dtype : kAllTypes) {
    std::vector<double> values = values_of(std::size_t{12} * 70 * 33, random);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % 70 < 20) values[i] = 0;
    }
    const Twin twin(dtype, values);
    Batch ours;
    Batch theirs;
    const std::vector<std::int64_t> sizes = {12, 33, 70};
    const std::vector<std::int64_t> strides = {33 * 70, 70, 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      ASSERT_TRUE(ours.count_units(twin.gpu(sizes, strides), axis, 1e-3));
      ASSERT_TRUE(theirs.count_units(twin.host(sizes, strides), axis, 1e-3));
    }
    ASSERT_TRUE(engine().submit(ours));
    engine().wait(ours);
    run_here(theirs);
    for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_EQ(ours.units(axis), theirs.units(axis)) << axis;
  }
}

TEST_F(OnGpu, AFollowedTensorTellsHowFarItMoved) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (const DType dtype : kAllTypes) {
    for (const std::size_t count : {std::size_t{1000}, std::size_t{1} << 20}) {
      std::vector<double> values(count);
      for (double& x : values) x = normal(random);
      const Twin before(dtype, values);
      for (double& x : values) x += 0.05 * normal(random);
      const Twin after(dtype, values, 1);
      const auto memory = engine().allocate(Batch::memory_to_follow(dtype, count, kGpu)).value();
      double moved[3] = {};
      std::size_t turn = 0;
      for (const TensorView& view : {before.gpu(), after.gpu(), after.gpu()}) {
        Batch batch;
        ASSERT_TRUE(batch.follow(view, memory.get()));
        ASSERT_TRUE(engine().submit(batch));
        engine().wait(batch);
        moved[turn++] = batch.moved(0);
      }
      const double exact = count * 0.05 * 0.05;
      EXPECT_NEAR(moved[0] / static_cast<double>(count), 1, 0.1);
      EXPECT_NEAR(moved[1] / exact, 1, 0.2) << to_string(dtype) << " " << count;
      EXPECT_EQ(moved[2], 0) << "nothing changed";
    }
  }
}

TEST_F(OnGpu, TheSameBatchGivesTheSameBitsAndAllocatesNothingMore) {
  std::mt19937_64 random(3);
  std::vector<std::unique_ptr<Twin>> twins;
  Batch batch;
  for (int i = 0; i < 20; ++i) {
    twins.push_back(std::make_unique<Twin>(DType::f32, values_of(50000, random)));
    batch.summarize(twins.back()->gpu(), {.histogram = true});
  }
  ASSERT_TRUE(engine().submit(batch));
  engine().wait(batch);
  std::vector<TensorStats> first;
  for (std::size_t i = 0; i < twins.size(); ++i) first.push_back(batch.summary(i));
  const GpuMemory held = engine().memory();
  for (int turn = 0; turn < 20; ++turn) {
    ASSERT_TRUE(engine().submit(batch));
    EXPECT_FALSE(engine().submit(batch)) << "it is still under way";
    Result<bool> there = false;
    while (!there.value_or(true)) there = engine().poll(batch);
    ASSERT_TRUE(there);
    for (std::size_t i = 0; i < twins.size(); ++i) EXPECT_EQ(batch.summary(i), first[i]);
  }
  EXPECT_EQ(engine().memory().device, held.device);
  EXPECT_EQ(engine().memory().pinned, held.pinned);
}

TEST_F(OnGpu, WhatItDoesNotServeIsRefused) {
  const Twin twin(DType::f32, std::vector<double>(100, 1.0));
  Batch batch;
  batch.summarize(twin.host());
  EXPECT_EQ(engine().submit(batch).error().message, "a tensor of the batch is not on GPU 0");
  EXPECT_EQ(engine().submit(batch).error().code, ErrorCode::invalid_argument)
      << "`unsupported` says that a graph is captured";
  batch.clear();
  ASSERT_TRUE(batch.compare_rows(twin.gpu()));
  EXPECT_EQ(engine().submit(batch).error().message, "rows are not compared on a GPU");
  EXPECT_FALSE(make_gpu_engine({.device = 99}));
}

}  // namespace
}  // namespace osler::stats::gpu
