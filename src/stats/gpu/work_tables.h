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
  bool followed = false;  ///< a tensor among them is followed
  bool counted = false;   ///< or counted
};

/// The tables of one batch. Filling them again for the same shapes allocates nothing and keeps the chunks.
class WorkTables {
 public:
  /// Describes the batch for a device that runs about `blocks` blocks at once. Returns whether the chunks are others
  /// than before.
  bool fill(const Batch::Work& work, std::size_t blocks);

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
    bool slow;    ///< its last chunk is not full, or all are read element by element
    bool single;  ///< a block takes one chunk
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  /// Where the answers of an item's blocks go.
  struct Parts {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  unsigned add_axes(const Layout& layout);
  void add_summary(const SummaryJob& job);
  void add_pair(const PairJob& job);
  void add_units(const UnitJob& job);
  void cut(std::size_t blocks);
  void cut_launch(std::size_t kernel, std::size_t blocks);
  void place_parts();
  [[nodiscard]] unsigned item_of(std::size_t shape) const;

  std::vector<Shape> shapes_;
  std::vector<Parts> parts_;       // of each shape
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
