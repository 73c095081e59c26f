// What the kernels are told, and how their results are read; needs no GPU.
#include "stats/gpu/work_tables.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "osler/stats/gpu_engine.h"

namespace osler::stats::gpu {
namespace {

constexpr Device kGpu{Device::Kind::cuda, 0};

/// A view of memory that nobody reads here.
TensorView view(std::uintptr_t address, DType dtype, const std::vector<std::int64_t>& sizes) {
  return TensorView::contiguous(reinterpret_cast<const void*>(address), dtype, sizes, kGpu).value();
}

TensorView view(std::uintptr_t address, DType dtype, const std::vector<std::int64_t>& sizes,
                const std::vector<std::int64_t>& strides) {
  return TensorView::strided(reinterpret_cast<const void*>(address), dtype, sizes, strides, kGpu).value();
}

const Launch& launch_of(const WorkTables& tables, Kernel kernel) {
  return tables.launches[static_cast<std::size_t>(kernel)];
}

TEST(WorkTables, EveryElementIsInExactlyOneChunk) {
  Batch batch;
  const std::vector<std::int64_t> sizes = {0, 1, 10, 32767, 32768, 32769, 1 << 20};
  for (const std::int64_t size : sizes) batch.summarize(view(0x1000, DType::f32, {size}));
  WorkTables tables;
  EXPECT_TRUE(tables.fill(batch.work()));
  std::vector<std::vector<int>> seen;
  for (const TableTensor& tensor : tables.tensors) seen.emplace_back(tensor.parts, 0);
  const Launch& launch = launch_of(tables, Kernel::summarize_f32);
  EXPECT_EQ(launch.count, tables.chunks.size());
  for (const TableChunk& chunk : tables.chunks) ++seen.at(chunk.item).at(chunk.number);
  const std::vector<std::size_t> expected = {0, 1, 1, 1, 1, 2, 32};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].size(), expected[i]) << sizes[i];
    for (const int times : seen[i]) EXPECT_EQ(times, 1) << sizes[i];
  }
  EXPECT_EQ(tables.summary_parts, std::accumulate(expected.begin(), expected.end(), std::size_t{0}));
}

TEST(WorkTables, EachTypeHasOneLaunchAndPartialChunksComeFirst) {
  Batch batch;
  batch.summarize(view(0x1000, DType::bf16, {1 << 20}));
  batch.summarize(view(0x1000, DType::f32, {100000}));
  batch.summarize(view(0x1000, DType::bf16, {77}));
  WorkTables tables;
  tables.fill(batch.work());
  const Launch& halves = launch_of(tables, Kernel::summarize_bf16);
  EXPECT_EQ(halves.count, 17U);  // sixteen of 65,536 elements, and the small one
  EXPECT_EQ(tables.chunks[halves.first].item, 2U);
  EXPECT_EQ(launch_of(tables, Kernel::summarize_f32).count, 4U);
  EXPECT_EQ(launch_of(tables, Kernel::summarize_f64).count, 0U);
}

TEST(WorkTables, TheSameShapesKeepTheirChunksWhateverTheAddresses) {
  Batch batch;
  WorkTables tables;
  batch.summarize(view(0x1000, DType::f32, {100000}));
  EXPECT_TRUE(tables.fill(batch.work()));
  batch.clear();
  batch.summarize(view(0x9000, DType::f32, {100000}));
  EXPECT_FALSE(tables.fill(batch.work()));
  EXPECT_EQ(tables.tensors[0].data, 0x9000U);
  batch.clear();
  batch.summarize(view(0x9000, DType::f32, {100001}));
  EXPECT_FALSE(tables.fill(batch.work())) << "as many chunks, of which the last is not full";
  EXPECT_EQ(tables.tensors[0].count, 100001U);
  batch.clear();
  batch.summarize(view(0x9000, DType::f32, {200000}));
  EXPECT_TRUE(tables.fill(batch.work()));
}

TEST(WorkTables, TellsDenseAlignedAndOrderedTensorsApart) {
  Batch batch;
  batch.summarize(view(0x1000, DType::f32, {8, 4}));
  batch.summarize(view(0x1004, DType::f32, {8, 4}));
  batch.summarize(view(0x1000, DType::f32, {8, 4}, {1, 8}));
  batch.summarize(view(0x1000, DType::f32, {8, 4}, {8, 1}));
  WorkTables tables;
  tables.fill(batch.work());
  EXPECT_EQ(tables.tensors[0].flags, kDense | kInOrder | kAligned);
  EXPECT_EQ(tables.tensors[1].flags, kDense | kInOrder);
  EXPECT_EQ(tables.tensors[2].flags, kDense | kAligned) << "transposed: dense, but numbered otherwise";
  EXPECT_EQ(tables.tensors[3].flags, kInOrder | kAligned) << "with gaps";
  ASSERT_EQ(tables.tensors[2].rank, 2U);
  const TableAxis& inner = tables.axes[tables.tensors[2].axis + 1];
  EXPECT_EQ(inner.size, 8U);
  EXPECT_EQ(inner.strides[0], 1);
  EXPECT_EQ(inner.index_step, 4U);
}

TEST(WorkTables, ItemsAreNumberedWithinTheirTable) {
  Batch batch;
  const TensorView tensor = view(0x1000, DType::f32, {64, 32});
  batch.summarize(tensor, {.histogram = true});
  ASSERT_TRUE(batch.compare(tensor, tensor));
  ASSERT_TRUE(batch.count_units(tensor, 1));
  ASSERT_TRUE(batch.count_units(tensor, 0));
  WorkTables tables;
  tables.fill(batch.work());
  EXPECT_TRUE(launch_of(tables, Kernel::summarize_f32).full);
  EXPECT_EQ(tables.chunks[launch_of(tables, Kernel::compare_f32).first].item, 0U);
  const Launch& units = launch_of(tables, Kernel::count_units);
  EXPECT_EQ(units.count, 1U + 8U);  // columns lie beside each other; of the rows eight are counted at a time
  EXPECT_EQ(tables.active, 32U + 64U);
  EXPECT_EQ(tables.units[1].first, 32U);
}

TEST(WorkTables, FollowedTensorsTakeLessThanOnePerCentOfTheirMemory) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    EXPECT_EQ(Batch::memory_to_follow(dtype, 100, kGpu), 100 * element_bytes(dtype)) << to_string(dtype);
    const std::uint64_t many = 1 << 24;
    EXPECT_EQ(Batch::memory_to_follow(dtype, many, kGpu), many * element_bytes(dtype) / 128) << to_string(dtype);
  }
}

TEST(WorkTables, AnEmptyTensorHasTheStatisticsOfNothing) {
  SummaryPart found{};
  found.first_nan = found.first_inf = kNone;
  EXPECT_EQ(stats_of(found, 0), TensorStats{});
}

TEST(WorkTables, ResultsBecomeAnswers) {
  SummaryPart found{};
  found.finite = 7;
  found.nan = 2;
  found.inf = 1;
  found.first_nan = 4;
  found.first_inf = 9;
  found.mean = 0.5;
  found.zeros = 3;
  const TensorStats stats = stats_of(found, 10);
  EXPECT_EQ(stats.finite_count(), 7U);
  EXPECT_EQ(stats.first_nan, 4U);
  EXPECT_EQ(stats.mean, 0.5);
  const PairStats pair = stats_of(PairPart{6, 5, 4, 3, 2, 1, 0}, 10);
  EXPECT_EQ(pair.excluded, 4U);
  EXPECT_EQ(pair.below_resolution, 4U);
  std::vector<Word> bins(kBins);
  bins[127] = 5;
  bins[256 + 3] = 2;
  const LogHistogram histogram = histogram_of(bins.data(), 3);
  EXPECT_EQ(histogram.positive[127], 5U);
  EXPECT_EQ(histogram.negative[3], 2U);
  EXPECT_EQ(histogram.total(), 10U);
}

TEST(GpuEngine, AMissingDriverIsToldInOneSentence) {
  const auto engine = make_gpu_engine({.driver = "libno-such-driver.so.1"});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::not_found);
  EXPECT_EQ(describe(engine.error()), "GPU statistics: the CUDA driver was not found (tried libno-such-driver.so.1)");
}

TEST(GpuEngine, ALibraryThatIsNoDriverIsTold) {
  const auto engine = make_gpu_engine({.driver = "libc.so.6"});
  ASSERT_FALSE(engine);
  EXPECT_EQ(describe(engine.error()), "libc.so.6: it has no cuInit; it is too old");
}

}  // namespace
}  // namespace osler::stats::gpu
