// How fast tensors are measured, as ratios to a plain SIMD sum over memory of the same size. All candidates take turns
// within one run and the median of many rounds counts, so that a busy machine disturbs all of them alike; the time is
// that of the thread, not of the clock on the wall. `osler_stats_bench [MiB [rounds]]`.
#include <time.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "osler/stats/engine.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stats_bench.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace osler::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The yardstick: nothing but loads and additions.
float plain_sum(const float* data, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d);
  auto b = a;
  auto c = a;
  auto e = a;
  for (std::size_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, data + i));
    b = hn::Add(b, hn::LoadU(d, data + i + lanes));
    c = hn::Add(c, hn::LoadU(d, data + i + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, data + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

}  // namespace HWY_NAMESPACE
}  // namespace osler::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace osler::bench {

HWY_EXPORT(plain_sum);

namespace {

using stats::Batch;
using stats::DType;
using stats::TensorView;

volatile double kept;  // so that no result is computed in vain

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Candidate {
  std::string name;
  double target;  ///< the least ratio we want, 0 for none
  std::size_t bytes;
  std::function<void()> work;
};

/// Lets all candidates take turns and prints each one's speed and its ratio to the first.
void compete(const char* title, const std::vector<Candidate>& candidates, int rounds) {
  std::vector<std::vector<double>> seconds(candidates.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const double before = thread_seconds();
      candidates[i].work();
      seconds[i].push_back(thread_seconds() - before);
    }
  }
  std::printf("%s\n", title);
  const double yardstick = median(seconds[0]) / static_cast<double>(candidates[0].bytes);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double per_byte = median(seconds[i]) / static_cast<double>(candidates[i].bytes);
    std::printf("  %-44s %6.2f GB/s   ratio %.2f", candidates[i].name.c_str(), 1e-9 / per_byte, yardstick / per_byte);
    if (candidates[i].target > 0) std::printf("   wanted %.1f", candidates[i].target);
    std::printf("\n");
  }
}

/// Values that repeat only after a million elements, so that no predictor learns them.
template <typename Value>
std::vector<Value> repeated(std::size_t count, const std::function<Value()>& next) {
  std::vector<Value> values(count);
  const std::size_t fresh = std::min<std::size_t>(count, 1 << 20);
  for (std::size_t i = 0; i < fresh; ++i) values[i] = next();
  for (std::size_t i = fresh; i < count; ++i) values[i] = values[i - fresh];
  return values;
}

std::uint16_t to_bf16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

/// Towards zero; for magnitudes in the normal range of half precision, zero below it.
std::uint16_t to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  if (std::abs(value) < 0x1p-14f) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | ((bits & 0x7FFFFFFFu) - (112u << 23)) >> 13);
}

template <typename Value>
TensorView view(const std::vector<Value>& values, DType dtype) {
  const auto size = static_cast<std::int64_t>(values.size());
  return TensorView::contiguous(values.data(), dtype, {&size, 1}).value();
}

/// Everything of one tensor, by the calling thread alone; with quantiles when the histogram is asked for.
std::function<void()> summary_of(stats::Engine& engine, const TensorView& tensor, bool histogram) {
  return [&engine, tensor, histogram, batch = std::make_shared<Batch>()] {
    batch->clear();
    batch->summarize(tensor, {.histogram = histogram});
    if (!engine.submit(*batch)) std::abort();
    engine.wait(*batch);
    kept = batch->summary(0).l2();
    if (histogram) kept = batch->histogram(0).quantile(0.5) + batch->histogram(0).magnitude_quantile(0.99);
  };
}

/// The numbers the project promises, on weights with a normal distribution.
void promised(std::size_t bytes, int rounds) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.02f);
  const auto next = [&] { return normal(random); };
  const std::vector<float> f32 = repeated<float>(bytes / 4, next);
  const std::vector<double> f64 = repeated<double>(bytes / 8, [&] { return static_cast<double>(next()); });
  const std::vector<std::uint16_t> bf16 = repeated<std::uint16_t>(bytes / 2, [&] { return to_bf16(next()); });
  const std::vector<std::uint16_t> f16 = repeated<std::uint16_t>(bytes / 2, [&] { return to_f16(next()); });
  const auto engine = stats::make_cpu_engine(0);
  const auto sum = [&f32] { kept = HWY_DYNAMIC_DISPATCH(plain_sum)(f32.data(), f32.size()); };
  const auto all = [&](const TensorView& tensor, bool histogram) { return summary_of(*engine, tensor, histogram); };
  const std::vector<Candidate> candidates = {
      {"plain sum, f32", 0, bytes, sum},
      {"all statistics, f32", 0.8, bytes, all(view(f32, DType::f32), false)},
      {"all statistics, bf16", 0.6, bytes, all(view(bf16, DType::bf16), false)},
      {"all statistics, f16", 0.6, bytes, all(view(f16, DType::f16), false)},
      {"all statistics, f64", 0, bytes, all(view(f64, DType::f64), false)},
      {"with histogram and quantiles, f32", 0.5, bytes, all(view(f32, DType::f32), true)},
      {"with histogram and quantiles, bf16", 0, bytes, all(view(bf16, DType::bf16), true)},
      {"with histogram and quantiles, f16", 0, bytes, all(view(f16, DType::f16), true)},
      {"with histogram and quantiles, f64", 0, bytes, all(view(f64, DType::f64), true)},
  };
  std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  const std::string best = hwy::TargetName(targets & -targets);
  compete(("one thread, normal weights, " + best).c_str(), candidates, rounds);
  for (targets &= targets - 1; targets != 0; targets &= targets - 1) {
    const std::int64_t target = targets & -targets;
    if (target == HWY_SCALAR) break;
    hwy::SetSupportedTargetsForTest(target);
    compete(("the same held down to " + std::string(hwy::TargetName(target))).c_str(), candidates,
            std::max(3, rounds / 4));
  }
  hwy::SetSupportedTargetsForTest(0);
}

/// Other contents than the friendly ones, and pairs.
void contents(std::size_t bytes, int rounds) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal(0, 1);
  const std::size_t count = bytes / 4;
  const auto relu = repeated<float>(count, [&] { return std::max(0.0f, normal(random)); });
  const auto heavy = repeated<float>(count, [&] { return normal(random) * std::exp(3 * normal(random)); });
  const auto tiny = repeated<float>(count, [&] { return 1e-40f * normal(random); });
  const auto broken = repeated<float>(count, [] { return std::numeric_limits<float>::quiet_NaN(); });
  const auto engine = stats::make_cpu_engine(0);
  const auto all = [&](const std::vector<float>& values, bool histogram) {
    return summary_of(*engine, view(values, DType::f32), histogram);
  };
  const auto pair = [&] {
    Batch batch;
    if (!batch.compare(view(relu, DType::f32), view(heavy, DType::f32))) std::abort();
    if (!engine->submit(batch)) std::abort();
    engine->wait(batch);
    kept = batch.pair(0).cosine();
  };
  const auto transposed = [&] {
    const std::int64_t sizes[] = {1024, static_cast<std::int64_t>(count / 1024)};
    const std::int64_t strides[] = {1, 1024};
    Batch batch;
    batch.summarize(TensorView::strided(heavy.data(), DType::f32, sizes, strides).value());
    if (!engine->submit(batch)) std::abort();
    engine->wait(batch);
    kept = batch.summary(0).l2();
  };
  compete("one thread, other contents, f32",
          {{"plain sum", 0, bytes, [&] { kept = HWY_DYNAMIC_DISPATCH(plain_sum)(relu.data(), count); }},
           {"after a rectifier", 0, bytes, all(relu, false)},
           {"after a rectifier, histogram", 0, bytes, all(relu, true)},
           {"heavy tails", 0, bytes, all(heavy, false)},
           {"heavy tails, histogram", 0, bytes, all(heavy, true)},
           {"subnormal numbers, histogram", 0, bytes, all(tiny, true)},
           {"all NaN", 0, bytes, all(broken, false)},
           {"a dense tensor, transposed", 0, bytes, transposed},
           {"pair: dot, norms, difference, lost updates", 0, 2 * bytes, pair}},
          rounds);
}

/// How threads share one large tensor and many small ones; by the wall clock, so only an idle machine tells the truth.
void threads(std::size_t bytes, int rounds) {
  const std::vector<float> values = repeated<float>(bytes / 4, [] { return 1.5f; });
  std::printf("threads (wall clock)\n");
  for (const std::size_t tensors : {std::size_t{1}, std::size_t{10000}}) {
    const std::size_t size = tensors == 1 ? values.size() : 256;
    for (const unsigned workers : {0u, 1u}) {
      const auto engine = stats::make_cpu_engine(workers);
      Batch batch;
      for (std::size_t i = 0; i < tensors; ++i) batch.summarize(TensorView::of({values.data() + i * size, size}));
      std::vector<double> seconds;
      for (int round = 0; round < rounds; ++round) {
        const double before = wall_seconds();
        if (!engine->submit(batch)) std::abort();
        engine->wait(batch);
        seconds.push_back(wall_seconds() - before);
      }
      std::printf("  %5zu tensors of %9zu f32, %u threads: %8.3f ms, %.0f ns each\n", tensors, size, workers + 1,
                  1e3 * median(seconds), 1e9 * median(seconds) / static_cast<double>(tensors));
    }
  }
}

}  // namespace
}  // namespace osler::bench

int main(int count, char** arguments) {
  const int mebibytes = count > 1 ? std::atoi(arguments[1]) : 256;
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 21;
  if (mebibytes < 16 || rounds < 1) {
    std::fprintf(stderr, "usage: osler_stats_bench [MiB >= 16 [rounds >= 1]]\n");
    return 2;
  }
  const std::size_t bytes = static_cast<std::size_t>(mebibytes) << 20;
  osler::bench::promised(bytes, rounds);
  osler::bench::contents(bytes, std::max(3, rounds / 2));
  osler::bench::threads(bytes, rounds);
  return 0;
}
#endif  // HWY_ONCE
