// WorkTables: a batch as the kernels read it, made on the host; and their results as the answers of the batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stats/batch_work.h"
#include "stats/gpu/tables.h"
#include "stats/layout.h"

namespace osler::stats::gpu {

/// The kernels that chunks of work are for; those of a type stand in the order of DType's numbers in tables.h.
enum class Kernel : std::uint8_t {
  summarize_f32,
  summarize_f64,
  summarize_f16,
  summarize_bf16,
  compare_f32,
  compare_f64,
  compare_f16,
  compare_bf16,
  count_units,
};
inline constexpr std::size_t kKernels = 9;

/// One launch: neighbouring chunks for one kernel.
struct Launch {
  std::size_t first = 0;
  std::size_t count = 0;
  bool full = false;  ///< a summary among them is followed or counted
};

/// The tables of one batch. Filling them again for the same shapes allocates nothing and keeps the chunks.
class WorkTables {
 public:
  /// Describes the batch. Returns whether the chunks are others than before.
  bool fill(const Batch::Work& work);

  std::vector<TableTensor> tensors;
  std::vector<TablePair> pairs;
  std::vector<TableUnits> units;
  std::vector<TableAxis> axes;
  std::vector<TableChunk> chunks;
  std::array<Launch, kKernels> launches{};
  std::size_t summary_parts = 0;
  std::size_t pair_parts = 0;
  std::size_t histograms = 0;
  std::size_t active = 0;  ///< counts of units

 private:
  /// What the chunks of an item depend on.
  struct Shape {
    Kernel kernel;
    std::uint64_t chunks;
    bool slow;  ///< its last chunk is not full, or all are read element by element
    friend bool operator==(const Shape&, const Shape&) = default;
  };

  unsigned add_axes(const Layout& layout);
  void add_summary(const SummaryJob& job);
  void add_pair(const PairJob& job);
  void add_units(const UnitJob& job);
  void cut();

  std::vector<Shape> shapes_;
  std::vector<Shape> cut_shapes_;  // those that the chunks were made for
};

/// The statistics of a tensor of `count` elements from what the kernels found.
[[nodiscard]] TensorStats stats_of(const SummaryPart& found, std::uint64_t count);
/// The same of a pair.
[[nodiscard]] PairStats stats_of(const PairPart& found, std::uint64_t count);
/// The histogram whose bins the kernels counted, of a tensor with so many zeros.
[[nodiscard]] LogHistogram histogram_of(const Word* bins, std::uint64_t zeros);

/// The bytes that following a tensor on a GPU takes: a copy of a small one; of others four for each 512 bytes.
[[nodiscard]] std::size_t memory_to_follow(DType dtype, std::uint64_t count);

}  // namespace osler::stats::gpu
