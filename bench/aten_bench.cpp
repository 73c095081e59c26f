// All statistics of a tensor in one pass, against taking them one operation after another with ATen as training scripts
// do. Both take turns on the same tensors, one thread each, and the median of the rounds counts, in time of the thread.
// `osler_aten_bench [rounds]`.
#include <time.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "osler/stats/engine.h"

namespace {

using osler::stats::Batch;
using osler::stats::DType;
using osler::stats::TensorView;

constexpr double kNearZero = 1e-7;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What both ways must agree on.
struct Health {
  double mean_magnitude = 0;
  double deviation = 0;
  double largest = 0;
  double smallest = 0;
  double near_zero_share = 0;
  double norm = 0;
  bool nan = false;
  bool inf = false;
};

/// One operation for each number, each with temporaries and a pass over memory of its own.
Health op_by_op(const at::Tensor& tensor) {
  Health health;
  health.mean_magnitude = tensor.abs().mean().item<double>();
  health.deviation = tensor.std().item<double>();
  health.largest = tensor.abs().max().item<double>();
  health.smallest = tensor.abs().min().item<double>();
  health.near_zero_share = (tensor.abs() < kNearZero).to(at::kFloat).mean().item<double>();
  health.norm = tensor.norm().item<double>();
  health.nan = tensor.isnan().any().item<bool>();
  health.inf = tensor.isinf().any().item<bool>();
  return health;
}

std::vector<Health> in_one_pass(osler::stats::Engine& engine, Batch& batch, const std::vector<TensorView>& views) {
  batch.clear();
  for (const TensorView& view : views) batch.summarize(view, {.near_zero = kNearZero});
  if (!engine.submit(batch)) std::abort();
  engine.wait(batch);
  std::vector<Health> found;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const auto& stats = batch.summary(i);
    const double smallest = stats.zeros > 0 ? 0.0 : stats.smallest_nonzero;
    found.push_back({stats.mean_abs(), stats.std_dev(), stats.abs_max(), smallest, stats.near_zero_share(), stats.l2(),
                     stats.nan_count > 0, stats.inf_count > 0});
  }
  return found;
}

bool close(double a, double b) {
  return std::abs(a - b) <= 1e-2 * std::max(std::abs(a), std::abs(b)) + 1e-12;
}

bool agree(const Health& a, const Health& b) {
  return close(a.mean_magnitude, b.mean_magnitude) && close(a.deviation, b.deviation) && close(a.largest, b.largest) &&
         close(a.smallest, b.smallest) && close(a.near_zero_share, b.near_zero_share) && close(a.norm, b.norm) &&
         a.nan == b.nan && a.inf == b.inf;
}

/// Lets both ways take turns on tensors of these sizes; false when they disagree.
bool compete(const char* title, const std::vector<std::int64_t>& sizes, int rounds, double wanted = 0) {
  std::vector<at::Tensor> tensors;
  std::vector<TensorView> views;
  double bytes = 0;
  for (const std::int64_t size : sizes) {
    tensors.push_back(at::randn({size}) * 0.02);
    views.push_back(TensorView::contiguous(tensors.back().data_ptr<float>(), DType::f32, {&size, 1}).value());
    bytes += 4.0 * static_cast<double>(size);
  }
  const auto engine = osler::stats::make_cpu_engine(0);
  Batch batch;
  std::vector<double> theirs;
  std::vector<double> ours;
  for (int round = 0; round < rounds; ++round) {
    const double start = thread_seconds();
    std::vector<Health> expected;
    for (const at::Tensor& tensor : tensors) expected.push_back(op_by_op(tensor));
    const double between = thread_seconds();
    const auto found = in_one_pass(*engine, batch, views);
    const double end = thread_seconds();
    theirs.push_back(between - start);
    ours.push_back(end - between);
    if (!std::equal(found.begin(), found.end(), expected.begin(), expected.end(), agree)) {
      std::printf("%s: the two ways disagree\n", title);
      return false;
    }
  }
  std::printf("%-44s op by op %6.2f GB/s   one pass %6.2f GB/s   ratio %5.1f", title, 1e-9 * bytes / median(theirs),
              1e-9 * bytes / median(ours), median(theirs) / median(ours));
  if (wanted > 0) std::printf("   wanted %.0f", wanted);
  std::printf("\n");
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 15;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: osler_aten_bench [rounds >= 1]\n");
    return 2;
  }
  at::set_num_threads(1);
  const at::NoGradGuard no_graph;
  constexpr std::int64_t kMillion = 1'000'000;
  std::vector<std::int64_t> transformer;  // twelve blocks of width 256
  for (int block = 0; block < 12; ++block) {
    for (const std::int64_t size : {768 * 256, 768, 256 * 256, 256, 1024 * 256, 1024, 256 * 1024, 256}) {
      transformer.push_back(size);
    }
  }
  const bool agreed = compete("one tensor beyond the cache, 32 million f32", {32 * kMillion}, rounds, 30) &&
                      compete("one tensor within it, 1 million f32", {kMillion}, rounds) &&
                      compete("96 tensors of a small transformer, f32", transformer, rounds);
  return agreed ? 0 : 1;
}
