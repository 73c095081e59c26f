// Fills the tables and reads the results.
#include "stats/gpu/work_tables.h"

#include <algorithm>
#include <limits>

#include "stats/dtype.h"
#include "stats/layout.h"

namespace osler::stats::gpu {
namespace {

/// Up to this size a tensor that is followed is copied, as on the host.
constexpr std::uint64_t kCopiedElements = std::uint64_t{1} << 14;
constexpr std::uint64_t kVectorBytes = 16;

unsigned number_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return kF32;
    case DType::f64:
      return kF64;
    case DType::f16:
      return kF16;
    case DType::bf16:
      return kBF16;
  }
  return kF32;
}

Kernel kernel_of(Kernel first, DType dtype) {
  return static_cast<Kernel>(static_cast<unsigned>(first) + number_of(dtype));
}

std::uint64_t chunk_elements(DType dtype) {
  return std::uint64_t{kWarps} * kStretchBytes / element_bytes(dtype);
}

std::uint64_t parts_for(std::uint64_t count, std::uint64_t each) {
  return (count + each - 1) / each;
}

Word address_of(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data);
}

bool dense(const Layout& layout, std::size_t operands) {
  const Axes& walk = layout.walk();
  if (layout.count() <= 1) return true;
  if (walk.rank != 1) return false;
  return walk.items[0].strides[0] == 1 && (operands == 1 || walk.items[0].strides[1] == 1);
}

/// Thresholds that are to be compared with a type's values: rounded so that the outcome is that of exact comparison.
void set_thresholds(const SummaryJob& job, TableTensor& tensor) {
  const bool wide = job.tensor.dtype() == DType::f64;
  const double near = std::clamp(job.options.near_zero, 0.0, std::numeric_limits<double>::max());
  const auto below = [wide](double value) { return wide ? value : static_cast<double>(float_below(value)); };
  tensor.near = below(near);
  tensor.low = below(job.options.low);
  tensor.high = -below(-job.options.high);
}

}  // namespace

unsigned WorkTables::add_axes(const Layout& layout) {
  const auto first = static_cast<unsigned>(axes.size());
  for (std::size_t i = 0; i < layout.sorted().rank; ++i) {
    const Axis& axis = layout.sorted().items[i];
    axes.push_back({axis.size, {axis.strides[0], axis.strides[1]}, axis.index_step});
  }
  return first;
}

void WorkTables::add_summary(const SummaryJob& job) {
  const Layout layout(job.tensor);
  const DType dtype = job.tensor.dtype();
  TableTensor tensor{};
  tensor.data = address_of(job.tensor.data());
  tensor.count = job.tensor.count();
  const bool packed = dense(layout, 1);
  if (packed) tensor.flags |= kDense;
  if (layout.in_order()) tensor.flags |= kInOrder;
  if (tensor.data % kVectorBytes == 0) tensor.flags |= kAligned;
  if (!packed || !layout.in_order()) {
    tensor.axis = add_axes(layout);
    tensor.rank = static_cast<unsigned>(layout.sorted().rank);
  }
  if (job.before != nullptr) {
    tensor.memory = address_of(job.before);
    tensor.flags |= tensor.count > kCopiedElements ? kSketched : kCopied;
  }
  if (job.histogram != SummaryJob::kNoHistogram) {
    tensor.flags |= kCounted;
    tensor.histogram = static_cast<unsigned>(job.histogram);
    ++histograms;
  }
  set_thresholds(job, tensor);
  const std::uint64_t parts = parts_for(tensor.count, chunk_elements(dtype));
  const Kernel kernel = kernel_of(Kernel::summarize_f32, dtype);
  Launch& launch = launches[static_cast<std::size_t>(kernel)];
  if ((tensor.flags & (kSketched | kCopied)) != 0) launch.followed = true;
  if ((tensor.flags & kCounted) != 0) launch.counted = true;
  shapes_.push_back({kernel, parts, !packed || tensor.count % chunk_elements(dtype) != 0, !packed});
  tensors.push_back(tensor);
}

void WorkTables::add_pair(const PairJob& job) {
  const Layout layout(job.a, &job.b);
  const Resolution stored = resolution_of(job.a.dtype());
  TablePair pair{};
  pair.a = address_of(job.a.data());
  pair.b = address_of(job.b.data());
  pair.count = job.a.count();
  pair.relative = stored.relative;
  pair.smallest = stored.smallest;
  pair.a_type = number_of(job.a.dtype());
  pair.b_type = number_of(job.b.dtype());
  const bool packed = dense(layout, 2);
  if (packed) pair.flags |= kDense;
  if (pair.a % kVectorBytes == 0 && pair.b % kVectorBytes == 0) pair.flags |= kAligned;
  if (!packed) {
    pair.axis = add_axes(layout);
    pair.rank = static_cast<unsigned>(layout.sorted().rank);
  }
  const std::uint64_t each = chunk_elements(job.a.dtype());
  const std::uint64_t parts = parts_for(pair.count, each);
  const bool single = !packed || pair.a_type != pair.b_type;
  shapes_.push_back({kernel_of(Kernel::compare_f32, job.a.dtype()), parts, single || pair.count % each != 0, single});
  pairs.push_back(pair);
}

void WorkTables::add_units(const UnitJob& job) {
  TableUnits table{};
  table.data = address_of(job.tensor.data());
  table.units = job.answer.active.size();
  table.places = job.answer.places;
  table.threshold = threshold_bits(job.tensor.dtype(), job.threshold);
  table.stride = job.tensor.strides()[job.axis];
  table.type = number_of(job.tensor.dtype());
  table.first = static_cast<unsigned>(active);
  active += table.units;
  std::uint64_t chunks_of_job = 0;
  if (table.units > 0 && table.places > 0) {
    const Layout layout(job.tensor, nullptr, job.axis);
    table.axis = add_axes(layout);
    table.rank = static_cast<unsigned>(layout.sorted().rank);
    const bool beside = table.stride == 1;
    chunks_of_job = parts_for(table.units, beside ? kUnitsBeside : kUnitsApart) *
                    parts_for(table.places, beside ? kPlacesBeside : kPlacesApart);
  }
  shapes_.push_back({Kernel::count_units, chunks_of_job, true, true});
  units.push_back(table);
}

unsigned WorkTables::item_of(std::size_t shape) const {
  const std::size_t first_pair = tensors.size();
  const std::size_t first_units = first_pair + pairs.size();
  return static_cast<unsigned>(shape - (shape >= first_units ? first_units : shape >= first_pair ? first_pair : 0));
}

/// What takes long for its size comes first, so that nothing waits for it at the end. Then a block takes what would be
/// its share if all that is left were begun at once: ever less, so that all are done at about the same time.
void WorkTables::cut_launch(std::size_t kernel, std::size_t blocks) {
  const auto belongs = [&](const Shape& shape) { return static_cast<std::size_t>(shape.kernel) == kernel; };
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const Shape& shape = shapes_[i];
    if (!belongs(shape) || shape.chunks == 0) continue;
    const std::uint64_t first = shape.single ? 0 : shape.slow ? shape.chunks - 1 : shape.chunks;
    for (std::uint64_t n = first; n < shape.chunks; ++n) {
      chunks.push_back({item_of(i), static_cast<unsigned>(n), 1, static_cast<unsigned>(parts_[i].count++)});
    }
    left += first;
  }
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const Shape& shape = shapes_[i];
    if (!belongs(shape) || shape.chunks == 0 || shape.single) continue;
    const std::uint64_t end = shape.slow ? shape.chunks - 1 : shape.chunks;
    for (std::uint64_t n = 0; n < end;) {
      const std::uint64_t most = std::clamp<std::uint64_t>(left / blocks, 1, kMostChunks);
      const std::uint64_t count = std::min(most, end - n);
      chunks.push_back({item_of(i), static_cast<unsigned>(n), static_cast<unsigned>(count),
                        static_cast<unsigned>(parts_[i].count++)});
      n += count;
      left -= count;
    }
  }
}

void WorkTables::cut(std::size_t blocks) {
  chunks.clear();
  parts_.assign(shapes_.size(), {});
  for (std::size_t k = 0; k < kKernels; ++k) {
    launches[k].first = chunks.size();
    cut_launch(k, std::max<std::size_t>(blocks, 1));
    launches[k].count = chunks.size() - launches[k].first;
  }
  summary_parts = pair_parts = 0;
  for (std::size_t i = 0; i < tensors.size() + pairs.size(); ++i) {
    std::size_t& end = i < tensors.size() ? summary_parts : pair_parts;
    parts_[i].first = end;
    end += parts_[i].count;
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(Kernel::count_units); ++k) {
    const std::size_t before = k < static_cast<std::size_t>(Kernel::compare_f32) ? 0 : tensors.size();
    for (std::size_t n = 0; n < launches[k].count; ++n) {
      TableChunk& chunk = chunks[launches[k].first + n];
      chunk.part += static_cast<unsigned>(parts_[before + chunk.item].first);
    }
  }
}

/// Tells each tensor and pair where its parts are.
void WorkTables::place_parts() {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].first_part = static_cast<unsigned>(parts_[i].first);
    tensors[i].parts = static_cast<unsigned>(parts_[i].count);
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].first_part = static_cast<unsigned>(parts_[tensors.size() + i].first);
    pairs[i].parts = static_cast<unsigned>(parts_[tensors.size() + i].count);
  }
}

bool WorkTables::fill(const Batch::Work& work, std::size_t blocks) {
  tensors.clear();
  pairs.clear();
  units.clear();
  axes.clear();
  shapes_.clear();
  histograms = active = 0;
  for (Launch& launch : launches) launch.followed = launch.counted = false;
  for (std::size_t i = 0; i < work.summaries.size(); ++i) add_summary(work.summaries[i]);
  for (std::size_t i = 0; i < work.pairs.size(); ++i) add_pair(work.pairs[i]);
  for (std::size_t i = 0; i < work.units.size(); ++i) add_units(work.units[i]);
  const bool anew = shapes_ != cut_shapes_;
  if (anew) cut(blocks);
  cut_shapes_ = shapes_;
  place_parts();
  return anew;
}

TensorStats stats_of(const SummaryPart& found, std::uint64_t count) {
  TensorStats stats;
  stats.count = count;
  stats.nan_count = found.nan;
  stats.inf_count = found.inf;
  stats.first_nan = found.first_nan;
  stats.first_inf = found.first_inf;
  if (found.finite == 0) return stats;
  stats.mean = found.mean;
  stats.m2 = found.m2;
  stats.l1 = found.l1;
  stats.min = found.min;
  stats.max = found.max;
  stats.smallest_nonzero = found.smallest;
  stats.zeros = found.zeros;
  stats.near_zeros = found.near;
  stats.saturated_low = found.low;
  stats.saturated_high = found.high;
  return stats;
}

PairStats stats_of(const PairPart& found, std::uint64_t count) {
  return {.count = count,
          .excluded = count - found.finite,
          .dot = found.dot,
          .a_squared = found.aa,
          .b_squared = found.bb,
          .difference_squared = found.dd,
          .b_nonzero = found.nonzero,
          .below_resolution = found.below};
}

LogHistogram histogram_of(const Word* bins, std::uint64_t zeros) {
  LogHistogram histogram;
  for (std::size_t bin = 0; bin < LogHistogram::kBins; ++bin) {
    histogram.positive[bin] = bins[bin];
    histogram.negative[bin] = bins[LogHistogram::kBins + bin];
  }
  histogram.zeros = zeros;
  return histogram;
}

std::size_t memory_to_follow(DType dtype, std::uint64_t count) {
  const std::uint64_t bytes = count * element_bytes(dtype);
  if (count <= kCopiedElements) return static_cast<std::size_t>(bytes);
  return static_cast<std::size_t>(parts_for(bytes, kStretchBytes) * kLanes * sizeof(float));
}

}  // namespace osler::stats::gpu
