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
  tensor.first_part = static_cast<unsigned>(summary_parts);
  tensor.parts = static_cast<unsigned>(parts);
  summary_parts += parts;
  const Kernel kernel = kernel_of(Kernel::summarize_f32, dtype);
  if ((tensor.flags & (kSketched | kCopied | kCounted)) != 0) launches[static_cast<std::size_t>(kernel)].full = true;
  shapes_.push_back({kernel, parts, !packed || tensor.count % chunk_elements(dtype) != 0});
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
  pair.first_part = static_cast<unsigned>(pair_parts);
  pair.parts = static_cast<unsigned>(parts);
  pair_parts += parts;
  const bool slow = !packed || pair.a_type != pair.b_type || pair.count % each != 0;
  shapes_.push_back({kernel_of(Kernel::compare_f32, job.a.dtype()), parts, slow});
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
  shapes_.push_back({Kernel::count_units, chunks_of_job, true});
  units.push_back(table);
}

/// What takes long for its size comes first in a launch, so that nothing waits for it at the end.
void WorkTables::cut() {
  chunks.clear();
  const std::array<std::size_t, 2> tables = {tensors.size(), tensors.size() + pairs.size()};  // where the next begins
  for (std::size_t k = 0; k < kKernels; ++k) {
    launches[k].first = chunks.size();
    for (const bool first : {true, false}) {
      for (std::size_t i = 0; i < shapes_.size(); ++i) {
        const Shape& shape = shapes_[i];
        if (static_cast<std::size_t>(shape.kernel) != k || shape.chunks == 0) continue;
        const std::size_t before = i >= tables[1] ? tables[1] : i >= tables[0] ? tables[0] : 0;
        const auto item = static_cast<unsigned>(i - before);
        const auto whole = static_cast<unsigned>(shape.chunks - (shape.slow ? 1 : 0));
        if (first && shape.slow) chunks.push_back({item, whole});
        for (unsigned n = 0; !first && n < whole; ++n) chunks.push_back({item, n});
      }
    }
    launches[k].count = chunks.size() - launches[k].first;
  }
}

bool WorkTables::fill(const Batch::Work& work) {
  tensors.clear();
  pairs.clear();
  units.clear();
  axes.clear();
  shapes_.clear();
  summary_parts = pair_parts = histograms = active = 0;
  for (Launch& launch : launches) launch.full = false;
  for (std::size_t i = 0; i < work.summaries.size(); ++i) add_summary(work.summaries[i]);
  for (std::size_t i = 0; i < work.pairs.size(); ++i) add_pair(work.pairs[i]);
  for (std::size_t i = 0; i < work.units.size(); ++i) add_units(work.units[i]);
  if (shapes_ == cut_shapes_) return false;
  cut();
  cut_shapes_ = shapes_;
  return true;
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
