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
constexpr std::size_t kBlocks = 528;  // that the device runs at once

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

/// How often each chunk of the items of a launch is measured, and each of their parts written.
struct Seen {
  std::vector<std::vector<int>> chunks;
  std::vector<int> parts;
};
Seen seen_in(const WorkTables& tables, const Launch& launch, const std::vector<std::uint64_t>& chunks,
             std::size_t parts) {
  Seen seen;
  for (const std::uint64_t count : chunks) seen.chunks.emplace_back(count, 0);
  seen.parts.assign(parts, 0);
  for (std::size_t i = launch.first; i < launch.first + launch.count; ++i) {
    const TableChunk& chunk = tables.chunks[i];
    EXPECT_LE(chunk.count, kMostChunks);
    for (unsigned n = 0; n < chunk.count; ++n) ++seen.chunks.at(chunk.item).at(chunk.number + n);
    ++seen.parts.at(chunk.part);
  }
  return seen;
}

TEST(WorkTables, EveryChunkIsMeasuredOnceWhateverTheDevice) {
  const std::vector<std::int64_t> sizes = {0, 1, 10, 32767, 32768, 32769, 1 << 20, (1 << 28) + 5};
  const std::vector<std::uint64_t> expected = {0, 1, 1, 1, 1, 2, 32, 8193};
  for (const std::size_t blocks : {std::size_t{0}, std::size_t{1}, kBlocks, std::size_t{100000}}) {
    Batch batch;
    for (const std::int64_t size : sizes) {
      batch.summarize(view(0x1000, DType::f32, {size}));
      ASSERT_TRUE(batch.compare(view(0x1000, DType::f32, {size}), view(0x9000, DType::f32, {size})));
    }
    WorkTables tables;
    EXPECT_TRUE(tables.fill(batch.work(), blocks));
    const Seen summaries = seen_in(tables, launch_of(tables, Kernel::summarize_f32), expected, tables.summary_parts);
    const Seen pairs = seen_in(tables, launch_of(tables, Kernel::compare_f32), expected, tables.pair_parts);
    for (const Seen* const seen : {&summaries, &pairs}) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        for (const int times : seen->chunks[i]) ASSERT_EQ(times, 1) << sizes[i] << " " << blocks;
      }
      for (const int times : seen->parts) ASSERT_EQ(times, 1) << blocks;
    }
    std::size_t parts = 0;
    for (const TableTensor& tensor : tables.tensors) {
      EXPECT_EQ(tensor.first_part, parts);
      parts += tensor.parts;
    }
    EXPECT_EQ(parts, tables.summary_parts);
  }
}

TEST(WorkTables, BlocksTakeMuchAtFirstAndLittleAtTheEnd) {
  Batch batch;
  batch.summarize(view(0x1000, DType::f32, {std::int64_t{kBlocks} * 40 * 32768}));
  WorkTables tables;
  tables.fill(batch.work(), kBlocks);
  EXPECT_EQ(tables.chunks.front().count, kMostChunks);
  EXPECT_EQ(tables.chunks.back().count, 1U);
  for (std::size_t i = 1; i < tables.chunks.size(); ++i) {
    EXPECT_LE(tables.chunks[i].count, tables.chunks[i - 1].count) << i;
  }
}

TEST(WorkTables, WhatIsReadElementByElementIsSharedOutFinely) {
  Batch batch;
  batch.summarize(view(0x1000, DType::f32, {1 << 12, 1 << 12}, {2 << 12, 1}));
  WorkTables tables;
  tables.fill(batch.work(), 1);
  EXPECT_EQ(tables.chunks.size(), 512U);
}

TEST(WorkTables, EachTypeHasOneLaunchAndPartialChunksComeFirst) {
  Batch batch;
  batch.summarize(view(0x1000, DType::bf16, {1 << 20}));
  batch.summarize(view(0x1000, DType::f32, {100000}));
  batch.summarize(view(0x1000, DType::bf16, {77}));
  WorkTables tables;
  tables.fill(batch.work(), kBlocks);
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
  EXPECT_TRUE(tables.fill(batch.work(), kBlocks));
  batch.clear();
  batch.summarize(view(0x9000, DType::f32, {100000}));
  EXPECT_FALSE(tables.fill(batch.work(), kBlocks));
  EXPECT_EQ(tables.tensors[0].data, 0x9000U);
  batch.clear();
  batch.summarize(view(0x9000, DType::f32, {100001}));
  EXPECT_FALSE(tables.fill(batch.work(), kBlocks)) << "as many chunks, of which the last is not full";
  EXPECT_EQ(tables.tensors[0].count, 100001U);
  batch.clear();
  batch.summarize(view(0x9000, DType::f32, {200000}));
  EXPECT_TRUE(tables.fill(batch.work(), kBlocks));
}

TEST(WorkTables, TellsDenseAlignedAndOrderedTensorsApart) {
  Batch batch;
  batch.summarize(view(0x1000, DType::f32, {8, 4}));
  batch.summarize(view(0x1004, DType::f32, {8, 4}));
  batch.summarize(view(0x1000, DType::f32, {8, 4}, {1, 8}));
  batch.summarize(view(0x1000, DType::f32, {8, 4}, {8, 1}));
  WorkTables tables;
  tables.fill(batch.work(), kBlocks);
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
  tables.fill(batch.work(), kBlocks);
  EXPECT_TRUE(launch_of(tables, Kernel::summarize_f32).counted);
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
